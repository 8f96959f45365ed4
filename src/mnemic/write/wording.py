"""The word lists behind `mnemic.write.statement`. Nouns, verbs and adjectives are kept as stems, since stems are
compared.
"""

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
path trail
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


def _stem(word: str) -> str:
    return same_word(_plain_stem(word))


def _pairs(lines: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Each line holds two sides; every word of the one is opposite to every word of the other."""
    table: dict[str, set[str]] = {}
    for line in lines:
        left, right = ([_stem(word) for word in side.split()] for side in line.split("|"))
        for one in left:
            table.setdefault(one, set()).update(right)
        for one in right:
            table.setdefault(one, set()).update(left)
    return MappingProxyType({word: frozenset(others) for word, others in table.items()})


def _narrower(lines: Iterable[str]) -> Mapping[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in lines:
        wide, narrow = line.split("|")
        for word in narrow.split():
            table.setdefault(_stem(word), set()).add(_stem(wide.strip()))
    return MappingProxyType(
        {word: frozenset(wide.union(*(table.get(one, set()) for one in wide))) for word, wide in table.items()}
    )


BROADER = _narrower(_BROADER)
"""What else a word says by itself: whoever says "a man" says "a person"."""

GROUP_HEADS = frozenset(SAME_WORD.values())

PARTICIPLES: Mapping[str, str] = MappingProxyType(
    dict(
        pair.split(":")
        for pair in """
        held:hold eaten:eat thrown:throw ridden:ride driven:drive written:write sung:sing taken:take given:give
        worn:wear broken:break drawn:draw done:do made:make cut:cut hit:hit put:put fed:feed led:lead read:read
        caught:catch taught:teach bought:buy brought:bring built:build swept:sweep blown:blow torn:tear shot:shoot
        told:tell sold:sell paid:pay seen:see chosen:choose stolen:steal spoken:speak frozen:freeze beaten:beat
        bitten:bite hidden:hide known:know shown:show flown:fly grown:grow won:win met:meet left:leave lost:lose
        """.split()
    )
)
"""Irregular participles, by which a passive is known, and their verbs."""

NEGATIONS = frozenset(
    """
    not no never none nobody nothing nowhere neither nor without hardly barely rarely seldom scarcely non
    stopped quit ceased nicht kein keine keinen keiner keinem nie niemals ohne ne pas jamais sans nunca jamás
    sin ningún não nunca mai senza niet geen nooit не нет никогда нет
    """.split()
)

EMPTY_WORDS = frozenset(
    """
    a an the am is are be been being do does i me my mine myself user users of and very really also please just
    so too now currently presently it its someone somebody anyone anybody there
    """.split()
)
"""Words whose loss changes no claim. Pronouns of other persons, prepositions and tenses are not among them."""

BEFORE_AMOUNTS = frozenset(
    """
    is are am was were be has have had under over above below at to by on in for of about around until till before after
    from than least most costs cost weighs weigh equals
    """.split()
)
"""What stands before a number that is an amount or a time; behind any other word it is a label, as in "chapter 3"."""

BEFORE_NAMES = frozenset("is are was were be called named in at for as".split())
"""What stands before a name that is the value of something: where one lives or works, how someone is called."""

QUALIFIERS = frozenset(
    _stem(word)
    for word in """
    only except unless if until till before after former formerly ex almost nearly sometimes often usually
    occasionally always all every each some any most few many more less least than used was were had may might
    could would should or but though although however maybe perhaps probably possibly hope want wish plan think
    believe suspect doubt pretend tomorrow yesterday longer anymore instead against far false fake failed fail
    refuse avoid deny stop hate dislike from unlike supposedly allegedly about approximately around over under
    above below another other different old new previous next who whose whom which what where when why how he
    she they we you him her them us his their our your with brother sister mother father wife husband son
    daughter friend boss colleague lack exclude omit decrease reduce decline drop cease prevent forbid prohibit ban
    reject cancel lose without absent missing non theoretical supposed so-called pseudo quasi
    """.split()
)
"""Words that may take back or bend what the rest of a sentence says."""

RELATIONS = frozenset(
    _stem(word)
    for word in "any ever actually have has had for to in on at with of from my our this that or and by his her".split()
)
"""Words of which no claim is made."""

NEGATIVE_PREFIXES = frozenset("un in im il ir dis non mis anti".split())

ANTONYMS = _pairs(
    """
always all every everyone everybody everything everywhere | never nobody none seldom rarely
like love enjoy adore prefer | dislike hate detest avoid loathe despise
want need | refuse reject
enable activate | disable deactivate
allow permit let accept approve | forbid deny block ban prohibit reject decline refuse
open | close closed shut
on | off
into | out
before | after
more most increase rise grow gain raise | less fewer least decrease fall shrink lose reduce lower drop
up upward upstairs above over | down downward downstairs below under
start begin launch resume open | stop end finish cease quit pause
buy purchase | sell
hot warm | cold cool
true right correct | false wrong incorrect
yes | no
married | single divorced unmarried
employed working | unemployed retired jobless
alive living | dead deceased
left | right
north northern | south southern
east eastern | west western
early earlier | late later
morning | evening night afternoon
day | night
public open | private closed
formal | informal casual
concise short brief terse | verbose long detailed lengthy
big large huge tall | small little tiny short
high | low
fast quick rapid | slow
easy simple | hard difficult complex complicated
cheap inexpensive | expensive costly
win won | lose lost
arrive enter come | depart leave left exit go
push | pull
include with | exclude without except
inside indoors indoor | outside outdoors outdoor
put place add | remove
silent | talk
immobile motionless still | move swim run walk jump
male man men boy husband brother father son uncle | female woman women girl wife sister mother daughter aunt
light bright | dark dim
remote remotely | onsite office
succeed success pass passed | fail failure failed
safe | dangerous unsafe risky
healthy well fit | sick ill unhealthy
happy glad cheerful | sad unhappy miserable
rich wealthy | poor
strong | weak
old | young new
first | last
top | bottom
front | back
full | empty
wet | dry
clean | dirty
awake | asleep sleep
present attend | absent miss
friend ally | enemy foe
remember | forget forgot
agree | disagree
trust | distrust mistrust
connect | disconnect
lock | unlock
install | uninstall remove
add insert | remove delete
subscribe | unsubscribe
import | export
ascend climb | descend
maximum max | minimum min
good great excellent | bad poor terrible awful evil
much many | little few
sure certain | unsure uncertain
ordinary | extraordinary
true truthful | untruthful
best | worst
better | worse
near close nearby | far distant
same identical | different
vegetarian vegan | carnivore meat
sit seated sitting | stand standing
sunny clear | rainy cloudy
smoker | nonsmoker
drunk | sober
loud noisy | quiet silent
soft | hard
smooth | rough
thick fat | thin slim
wide broad | narrow
deep | shallow
heavy | light
sweet | bitter sour
guilty | innocent
possible | impossible
eligible | ineligible
include | exclude omit lack
contain have has | lack
accept grant award receive | deny refuse reject
agree | conflict contradict
allow let | prevent
support | oppose
upgrade | downgrade
promote | demote hinder
build construct establish found create | demolish dismantle destroy abolish
exist present | absent missing
hit catch | miss
lowest | highest
least | most
fewest | most
ancient | modern
common typical frequent | rare unusual uncommon
positive | negative
attack | defend
attacking | defensive
major significant serious important | minor insignificant trivial unimportant
theoretical | practical
float | sink
victory | defeat
oldest | youngest
urban city | rural countryside
forward | backward backwards
ability able capable | inability unable incapable
beginner novice | expert
introvert | extrovert
optional voluntary | mandatory required compulsory
manual manually | automatic automatically
internal | external
import | export
temporary | permanent
single | multiple several
able can | unable
aisle | window
""".strip().splitlines()
)

_CLASSES = {
    "weekday": "monday tuesday wednesday thursday friday saturday sunday",
    "month": "january february march april june july august september october november december",
    "colour": "red blue green yellow black white brown pink purple orange grey gray",
    "language": """
        english german french spanish italian portuguese dutch russian chinese japanese korean arabic hindi
        turkish polish swedish danish norwegian finnish greek czech ukrainian
    """,
    "season": "spring summer autumn winter",
    "meal": "breakfast lunch dinner",
}
VALUE_CLASSES: Mapping[str, str] = MappingProxyType(
    {_stem(word): name for name, words in _CLASSES.items() for word in words.split()}
)
"""Words of which a frame holds one at a time."""

POSTURES = frozenset(
    _stem(word)
    for word in "sit stand lie kneel crouch run walk sleep swim jump fly ride drive climb dance eat sing talk".split()
)
"""What somebody is doing, of which they do one at a time: "is sitting", not "likes sitting"."""

PHRASES: Mapping[str, str] = MappingProxyType(
    {
        "close to": "near",
        "next to": "near",
        "make-up": "makeup",
        "a couple of": "two",
        "a lot of": "many",
        "lots of": "many",
    }
)
"""Several words that say what one says."""

NUMBER_WORDS: Mapping[str, str] = MappingProxyType(
    {
        word: str(number)
        for number, word in enumerate(
            """
            zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
            fifteen sixteen seventeen eighteen nineteen twenty
            """.split()
        )
    }
    | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90"}
    | {"hundred": "100", "thousand": "1000", "million": "1000000", "once": "1", "twice": "2"}
)
