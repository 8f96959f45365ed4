"""Word lists of `mnemic.language.compare.word_comparison`. Nouns, verbs and adjectives are stored as stems, since stems
are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mnemic.language.text.analyse import analyse


def stem_of(word: str) -> str:
    """Return the stem of `word` for comparison."""
    return analyse(word).sequence[0]


def _pairs(lines: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Return the opposites of each word: every word left of the bar in a line is opposite to every word right of it."""
    table: dict[str, set[str]] = {}
    for line in lines:
        left, right = ([stem_of(word) for word in side.split()] for side in line.split("|"))
        for one in left:
            table.setdefault(one, set()).update(right)
        for one in right:
            table.setdefault(one, set()).update(left)
    return MappingProxyType({word: frozenset(others) for word, others in table.items()})


NEGATIONS = frozenset(
    """
    not no never none nobody nothing nowhere neither nor without hardly barely rarely seldom scarcely non
    stopped quit ceased nicht kein keine keinen keiner keinem nie niemals ohne ne pas jamais sans nunca jamás
    sin ningún não nunca mai senza niet geen nooit не нет никогда нет
    """.split()
)
"""Words that negate their phrase, fully or almost."""

NEARLY_NEVER = frozenset("hardly barely rarely seldom scarcely".split())
"""Negations that are not total: "seldom" is another frequency than "never"."""

EMPTY_WORDS = frozenset(
    """
    a an the am is are be been being do does i me my mine myself user users of and very really also please just
    so too now currently presently it its someone somebody anyone anybody there
    """.split()
)
"""Words without effect on a claim. Pronouns of other persons, prepositions and tenses are not among them."""

BEFORE_AMOUNTS = frozenset(
    """
    is are am was were be has have had under over above below at to by on in for of about around until till before after
    from than least most costs cost weighs weigh equals
    """.split()
)
"""Words before a number that is an amount or a time; after any other word it is a label, as in "chapter 3"."""

BEFORE_NAMES = frozenset("is are was were be called named in at for as".split())
"""Words before a name that is a value: a place of residence or work, a person's name."""

QUALIFIERS = frozenset(
    stem_of(word)
    for word in """
    only except unless if until till before after former formerly ex almost nearly sometimes often usually
    occasionally always all every each some any most few many more less least than used was were had may might
    could would should or but though although however maybe perhaps probably possibly hope want wish plan think
    believe suspect doubt pretend tomorrow yesterday longer anymore instead against far false fake failed fail
    refuse avoid deny stop hate dislike from unlike supposedly allegedly about approximately around over under
    above below another other different old new previous next yet vice deputy forget forgot exempt exemption
    outside inside beyond law who whose whom which what where when why how he
    she they we you him her them us his their our your with brother sister mother father wife husband son
    daughter friend boss colleague lack exclude omit decrease reduce decline drop cease prevent forbid prohibit ban
    reject cancel lose without absent missing non theoretical supposed so-called pseudo quasi
    """.split()
)
"""Words that may reverse or weaken the rest of a sentence."""

RELATIONS = frozenset(
    stem_of(word)
    for word in "any ever actually have has had for to in on at with of from my our this that or and by his her".split()
)
"""Words that make no claim."""

NEGATIVE_PREFIXES = frozenset("un in im il ir dis non mis anti".split())

_PREFIXED = re.compile(r"(?:un|non|dis|mis|anti)\w{3}")
_NO_PREFIX = frozenset(
    stem_of(word)
    for word in """
    under understand until unless unit unite union unique universe universal university uniform unveil
    discuss discussion display distance distribute distributor district distinct discover discovery discipline
    disc disk disease dish dispute distress mission missile miss mister mistress misty antique
    """.split()
)
NEGATIVE_WORDS = frozenset(
    stem_of(word)
    for word in """
    incapable inability ineligible invalid inactive inadequate incomplete inconsistent incompatible incorrect
    ineffective inefficient insufficient insignificant inaccurate inappropriate incompetent indirect infrequent
    insecure insane intolerant invisible involuntary immobile impossible improbable imperfect impatient impolite
    illegal illegible illogical irregular irrelevant irresponsible irrational asymmetrical devoid indifferent
    """.split()
)
"""Negative words in in-, im-, il- and ir-, prefixes of many other words too."""


def is_negative(stem: str) -> bool:
    """Return True if the word itself is negative, as "unable" and "ineligible" are."""
    return stem in NEGATIVE_WORDS or (_PREFIXED.match(stem) is not None and stem not in _NO_PREFIX)


ANTONYMS = _pairs(
    """
always all every everyone everybody everything everywhere | never nobody none seldom rarely
like love enjoy adore prefer | dislike hate detest avoid loathe despise
want need | refuse reject
enable activate | disable deactivate
allow permit let accept approve | forbid deny block ban prohibit reject decline refuse
open | close closed shut
on | off
before | after
more most increase rise grow gain raise | less fewer least decrease fall shrink lose reduce lower drop
up upward upstairs above over | down downward downstairs below under
start begin launch resume open | stop end finish cease quit pause
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
include with | exclude without except
inside indoors indoor | outside outdoors outdoor
remote remotely | onsite office
succeed success pass passed | fail failure failed
safe | dangerous unsafe risky
healthy well fit | sick ill unhealthy
happy glad cheerful | sad unhappy miserable
rich wealthy | poor
strong | weak
old | young new
front | back
full | empty
present attend | absent miss
remember | forget forgot
agree | disagree
trust | distrust mistrust
connect | disconnect
lock | unlock
install | uninstall remove
add insert | remove delete
subscribe | unsubscribe
import | export
good great excellent | bad poor terrible awful evil
sure certain | unsure uncertain
best | worst
better | worse
near close nearby | far distant
same identical | different
vegetarian vegan | carnivore meat
smoker | nonsmoker
drunk | sober
loud noisy | quiet silent
soft | hard
sweet | bitter sour
possible | impossible
eligible | ineligible
accept grant award receive | deny refuse reject
agree | conflict contradict
support | oppose
upgrade | downgrade
least | most
common typical frequent | rare unusual uncommon
urban city | rural countryside
ability able capable | inability unable incapable
beginner novice | expert
introvert | extrovert
optional voluntary | mandatory required compulsory
manual manually | automatic automatically
internal | external
temporary | permanent
single | multiple several
able can | unable
aisle | window
approve | reject
private privately | public government
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
    {stem_of(word): name for name, words in _CLASSES.items() for word in words.split()}
)
"""Value class of each word that excludes the others of its class."""

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
