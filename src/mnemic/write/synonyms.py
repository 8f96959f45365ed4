"""Words that say the same, or the same and more: groups, broader words, participles, phrases. English, and everyday."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mnemic.text.analyse import analyse


def _plain_stem(word: str) -> str:
    return analyse(word).sequence[0]


def _groups(lines: Iterable[str]) -> Mapping[str, str]:
    """Each line's words by the first of them, as stems."""
    table: dict[str, str] = {}
    for line in lines:
        first, *others = map(_plain_stem, line.split())
        table |= {other: first for other in others if other != first}
    return MappingProxyType(table)


SAME_WORD = _groups(
    """
child kid kids children
woman lady women ladies
man guy gentleman men guys gentlemen
person people persons
dad father daddy papa
mom mother mommy mum mama
bike bicycle
motorbike motorcycle
car automobile
couch sofa
lawn turf
picture photo photograph
phone telephone
film movie
stone rock
ocean sea
trash garbage rubbish
shop store
job occupation
doctor physician
lawyer attorney
trousers pants
jumper sweater
holiday vacation
rabbit bunny
puppy pup
baby infant
teenager teen
friend buddy pal
cop policeman policewoman
plane airplane aeroplane
gift present
large big
small little tiny
quick fast rapid swift
begin start commence
end finish conclude
buy purchase
happy glad
sad unhappy
afraid scared frightened
scare frighten
fight battle
leap jump
shout yell scream
talk speak chat
choose pick select
help assist aid
need require
allow permit
obtain receive
answer reply respond
repair fix mend
shut close
hit strike
throw toss hurl
pull drag tug
clever smart intelligent
beautiful pretty
difficult complicated
simple easy
incorrect wrong
costly expensive
cheap inexpensive
famous renowned
strange weird odd
outside outdoors outdoor
inside indoors indoor
whole entire
sick ill
angry mad
quiet silent
blond blonde
gray grey
tv television telly
love adore
hate detest loathe
live reside dwell
huge enormous giant
stroll walk
happen occur
approximately roughly
primary main
near beside nearby
beach seashore shore
path trail road
bounce hop
mix stir
chef cook
cry weep
hike trek
clothes clothing garments
vegetable veggie
bicyclist cyclist biker
drawing sketch
student pupil
bag sack
coat overcoat
rug carpet
cellar basement
grandma grandmother granny
grandpa grandfather grandad
glasses spectacles eyeglasses
medicine medication
illness disease sickness
exam examination
error mistake
colleague coworker
trip journey
luggage baggage
journal diary
""".strip().splitlines()
)
"""Words that claim the same: the one that stands for the others."""


_BROADER = """
person | man woman boy girl child baby teenager adult lad player rider biker cyclist swimmer dancer singer chef cook
person | musician guitarist surfer skateboarder skier climber athlete
child | boy girl toddler
animal | dog cat horse monkey bird rabbit lion tiger elephant bear panda deer cow sheep goat pig kangaroo
dog | puppy poodle terrier labrador
cat | kitten
sport | soccer football basketball baseball tennis hockey rugby golf cricket volleyball
male | man boy
female | woman girl
run | sprint jog
play | strum
water | ocean river lake pond pool
weapon | sword gun knife rifle
jump | dive hop bounce leap
tree | oak pine fir
drink | coffee tea juice beer wine
clothes | shirt jacket dress trousers sweater coat
instrument | guitar piano violin flute drum trumpet saxophone keyboard
vehicle | car truck bus van motorbike
cut | slice chop dice
food | meal pasta rice bread meat vegetable fruit
fruit | apple banana orange mango
vegetable | potato tomato carrot onion
""".strip().splitlines()


def same_word(stem: str) -> str:
    """The stem that stands for all that claim the same as `stem`."""
    return SAME_WORD.get(stem, stem)


def stem_of(word: str) -> str:
    """The stem by which `word` is compared."""
    return same_word(_plain_stem(word))


def _narrower(lines: Iterable[str]) -> Mapping[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in lines:
        wide, narrow = line.split("|")
        for word in narrow.split():
            table.setdefault(stem_of(word), set()).add(stem_of(wide.strip()))
    return MappingProxyType(
        {word: frozenset(wide.union(*(table.get(one, set()) for one in wide))) for word, wide in table.items()}
    )


BROADER = _narrower(_BROADER)
"""Broader terms that a word implies: "a man" is "a person"."""

GROUP_HEADS = frozenset(SAME_WORD.values())

PHRASES: Mapping[str, str] = MappingProxyType(
    {
        "close to": "near",
        "next to": "near",
        "make-up": "makeup",
        "a couple of": "two",
        "a lot of": "many",
        "lots of": "many",
        "yet to": "not",
        "unable to": "not",
        "failed to": "not",
        "fails to": "not",
        "refused to": "not",
        "refuses to": "not",
        "incapable of": "not",
    }
)
"""Several words that say what one says."""
