"""Topics of everyday requests and preferences, by their words.

A request seldom uses the words of the preference that it depends on: "Book a table for dinner" depends on "vegetarian".
Words are stemmed as in a search. The table is deliberately small and covers common requests to assistants. Kinds of
food, clothing, furniture and so on come from WordNet's nouns (`topic_words.json`, made by
`training/topics/write_words.py`).

A rule restricts the choice of one kind of thing: "Never book hotels without a gym" is about hotels, not gyms. The words
after "without", "unless" or "before" narrow it down to some things of the kind, and a request about anything else does
not depend on it, whatever words they share.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pkgutil import get_data
from types import MappingProxyType

from mnemic.language.text.analyse import terms
from mnemic.language.text.pattern import Pattern

_SHARED: Mapping[str, str] = MappingProxyType(
    {
        "flight": "flight fly flights airline airlines plane airplane airport boarding aisle window seat seats layover "
        "stopover nonstop luggage baggage lufthansa ryanair vuelo vuelos flug flüge vol avion voo volo",
        "travel": "travel trip trips travelling vacation holiday holidays itinerary journey destination train trains "
        "railway tour sightseeing passport visa abroad weekend getaway cruise backpacking viaje reise voyage viagem "
        "viaggio urlaub vacaciones",
        "lodging": "hotel hotels hostel airbnb room rooms lodging accommodation motel resort suite bed breakfast stay "
        "habitación zimmer chambre alojamiento",
        "food": "food eat eating meal meals dinner lunch breakfast brunch restaurant restaurants cook cooking recipe "
        "recipes dish dishes diet vegetarian vegan kosher halal gluten lactose nuts peanut peanuts shellfish dairy "
        "meat fish snack bake baking cuisine menu ingredient ingredients dessert allergic allergy allergies spicy "
        "coffee tea wine drink drinks beverage beer cocktail cocktails groceries supper takeaway pizza sushi bread "
        "sugar sweets sweet dessert desserts alcohol sober pork beef chicken lamb seafood egg eggs milk cheese "
        "vegetables vegetable fruit mushrooms onion garlic herbs spices soup salad sandwich pasta rice cake chocolate "
        "barbecue coeliac celiac cena comida restaurante essen restaurant repas dîner jantar",
        "health": "doctor medicine medication medical health healthy symptom symptoms pain allergic allergy allergies "
        "diabetes diabetic asthma pregnant prescription hospital therapy injury injured knee disease diagnosed blood "
        "sleep insomnia workout exercise gym yoga wheelchair accessible accessibility mobility supplement "
        "supplements skincare skin remedy remedies diabetic coeliac celiac migraine vitamins",
        "sport": "sport sports run running jog jogging gym workout exercise swim swimming cycling hike hiking climbing "
        "football soccer tennis basketball yoga ski skiing marathon training team match",
        "music": "music song songs album albums band bands concert concerts playlist listen jazz rock pop classical "
        "guitar piano singer genre",
        "screen": "film films movie movies series show shows watch documentary documentaries cinema netflix thriller "
        "comedy horror anime musical musicals fiction subtitles superhero actor director television",
        "reading": "book books read reading novel novels author authors fiction nonfiction audiobook audiobooks "
        "library poetry genre magazine podcast podcasts",
        "shopping": "buy buying shop shopping purchase price prices brand brands gift gifts present presents store "
        "product products size shoes clothes clothing jacket dress budget cheap order wear outfit phone laptop camera",
        "learning": "learn learning study studying course courses class exam teach tutorial lesson lessons degree "
        "university college homework practice resource resources",
        "work": "overtime work job career meeting meetings meet colleague colleagues boss office manager interview "
        "resume cv linkedin salary project projects deadline team client clients schedule remote conference "
        "presentation productivity",
        "schedule": "schedule appointment appointments calendar meeting meetings morning mornings afternoon evening "
        "evenings monday tuesday wednesday thursday friday saturday sunday weekend time reminder plan plans week day "
        "tomorrow tonight routine",
        "contact": "contact reach signal telegram messenger email mail phone call message notify notifications update "
        "updates slack channel reply text whatsapp sms newsletter",
        "home": "home house flat apartment garden gardening furniture decor decorate decorating kitchen clean "
        "cleaning plants plant renovation bedroom living",
        "money": "money budget invest investing investment savings bank loan mortgage tax taxes insurance pension "
        "retirement stocks expenses finance financial spend spending",
        "family": "family wife husband partner son daughter child children kid kids parents mother father brother "
        "sister baby wedding anniversary birthday friend friends party",
        "animals": "pet pets dog dogs cat cats puppy kitten vet animal animals horse fish bird",
        "leisure": "weekend hobby hobbies activity activities fun game games gaming event events museum museums art "
        "puzzle puzzles chess play collect collecting "
        "painting photography party theatre festival outdoors craft crafts visit free",
        "code": "csv json yaml html css regex parser kotlin swift ruby php haskell golang linux vim windows terminal "
        "laptop code coding python javascript typescript java rust function bug script program programming api "
        "library framework database sql test tests refactor software app indentation tabs editor git repository "
        "variable variables comments pytest react deploy docker",
        "car": "car cars drive driving parking motorbike vehicle electric garage fuel automatic automatics motorway "
        "motorways licence",
        "look": "colour colours color colors bright dark pale pastel leather wool cotton linen silk synthetic fabric "
        "fabrics style outfit",
        "thrift": "second-hand vintage repaired repair fair trade sustainable ethical recycled",
        "faith": "sabbath ramadan church mosque synagogue prayer pray lent fasting religious halal kosher muslim "
        "jewish christian hindu buddhist",
        "garden": "garden gardening balcony plants plant herbs flowers lawn",
        "rest": "overtime weekends rest nap silence quiet concentrate early",
        "news": "news newsletter newsletters briefing headlines politics newspaper",
        "weather": "heat cold freeze rain snow sunny humid climate",
        "nature": "outdoors nature forest woods mountains sea river rivers lake",
        "sights": "heights crowds crowd closed claustrophobic stairs walk walking",
    }
)
"""Words that indicate the topic in a request and in a memory alike, without words that share a stem with another
meaning ("fitness" and "fits").
"""

_NONE: frozenset[str] = frozenset()

_OPENS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "travel trip vacation holiday itinerary getaway abroad honeymoon": ("flight", "lodging", "travel"),
        "shape exercise": ("sport",),
        "pack beach": ("travel", "free", "weather"),
        "office commute": ("car", "sport"),
        "weekend rainy free spare sunday saturday outing": ("free", "leisure"),
        "gift gifts present presents wish christmas": ("gift",),
        "sights attraction attractions museum museums sightseeing tour": ("sights",),
        "headache cold cough fever flu sauna tablet tablets pill pills": ("health",),
        "route connection ferry": ("car", "travel"),
        "streaming stream": ("screen",),
        "bar pub cafe pairing": ("food",),
        "sofa couch wall walls curtain curtains paint coat suit decorate": ("look",),
        "computer program editor notes": ("code",),
        "table tables reservation": ("food",),
        "host hosting guests party picnic barbecue": ("food",),
        "airline airport": ("travel",),
        "sign signature letter email form register application reservation bio biography introduce introduction": (
            "signature",
        ),
    }
)
"""Words of a request that add further topics: the plan for a trip includes flights, beds and meals."""

_BY_KEY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "seat": ("flight",),
        "flight_time": ("flight",),
        "cabin": ("flight",),
        "stops": ("flight",),
        "airline": ("flight",),
        "hotel": ("lodging", "travel"),
        "room": ("lodging", "travel"),
        "diet": ("food", "health"),
        "meal": ("food",),
        "allergies": ("food", "health"),
        "accessibility": ("flight", "travel", "lodging", "food", "health", "leisure"),
        "update_channel": ("contact",),
        "timezone": ("schedule",),
        "home_city": ("place",),
        "city": ("place",),
        "job": ("work",),
        "employer": ("work",),
        "name": ("signature",),
    }
)

KEYS = frozenset(_BY_KEY)
"""Keys with a known effect on answers, whatever their stored category."""

_TOUCHES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "food": ("health", "faith"),
        "shopping": ("look", "thrift"),
        "look": ("shopping", "thrift"),
        "home": ("look", "garden", "thrift", "shopping"),
        "travel": ("flight", "lodging", "car", "weather"),
        "schedule": ("faith", "rest"),
        "car": ("travel",),
        "sport": ("health",),
        "free": ("sport", "car", "sights", "weather", "music", "screen", "reading", "leisure", "health", "nature"),
        "gift": (
            "music",
            "reading",
            "leisure",
            "screen",
            "look",
            "animals",
            "garden",
            "thrift",
            "shopping",
            "money",
            "home",
        ),
        "sights": ("health", "travel", "leisure"),
    }
)
"""Topics of memories that a request on a topic also depends on: clothes have a colour and a fabric."""

MAX_WORDS = 25
"""Maximum words of a request for touched topics: a longer one mentions much in passing."""
_PLACE = "place"
_WHERE = (
    "restaurant dinner lunch brunch weather near nearby local around flight fly airport forecast commute neighbourhood "
    "neighborhood doctor dentist gym cinema concert event delivery live living reside"
)
"""Words of a request that depends on the user's home."""


@cache
def _topics_of_stems() -> Mapping[str, frozenset[str]]:
    """Return the topics of each stemmed word."""
    found: dict[str, set[str]] = {}
    for topic, words in _SHARED.items():
        for word in terms(words):
            found.setdefault(word, set()).add(topic)
    ours = frozenset(found)
    nouns: dict[str, str] = json.loads(get_data(__package__, "topic_words.json") or b"{}")
    for topic, words in nouns.items():
        for word in frozenset(terms(words)) - ours:
            found.setdefault(word, set()).add(topic)
    return {word: frozenset(topics) for word, topics in found.items()}


@cache
def _added_topics() -> Mapping[str, frozenset[str]]:
    """Return the topics that each stemmed word of a request adds."""
    found: dict[str, set[str]] = {}
    for words, topics in [*_OPENS.items(), (_WHERE, (_PLACE,))]:
        for word in terms(words):
            found.setdefault(word, set()).update(topics)
    return {word: frozenset(topics) for word, topics in found.items()}


def topics_of_request(words: Iterable[str], *, touching: bool = True) -> frozenset[str]:
    """Return the topics of a request of these stemmed words, and those that it adds or (`touching`) touches."""
    words = frozenset(words)
    known, opened = _topics_of_stems(), _added_topics()
    topics = frozenset().union(*(known.get(word, _NONE) | opened.get(word, _NONE) for word in words))
    if len(words) > MAX_WORDS or not touching:
        return topics
    return topics.union(*(_TOUCHES.get(topic, ()) for topic in topics))


def topics_of_memory(words: Iterable[str], key: str | None) -> frozenset[str]:
    """Return the topics of a memory of these stemmed words, under `key`."""
    if key is not None and key in _BY_KEY:
        return frozenset(_BY_KEY[key])
    known = _topics_of_stems()
    return frozenset().union(*(known.get(word, _NONE) for word in set(words)))


_CHOOSING = (
    r"(?:book|reserve|rent|hire|stay (?:in|at)|eat (?:in|at)|dine (?:in|at)|fly (?:with|on)|travel (?:with|on)"
    r"|buy|order|schedule|arrange|choose|pick|take|visit|watch|read|use|suggest|recommend|show me|offer me|send me"
    r"|get|plan)"
)
_RULE = Pattern(
    r"\A\W*(?:(?:please|i|we|you|the user) )*(?:(?:will|would|should|must) )?"
    r"(?:never|always|only|exclusively|don['’]t|do not|does not|doesn['’]t|won['’]t|will not|can['’]t|cannot|refuse to"
    r"|make sure to|must not|mustn['’]t) (?:ever |want (?:you )?to |let me )?" + _CHOOSING + r"s? (?P<thing>.{2,80}?)"
    r"(?: (?:without|with|unless|if|when|while|before|after|until|that|which|who|where|because|since|as long|than"
    r"|from|at|on|in|for|over|under|by)\b|[.,;!]|\Z)",
    re.IGNORECASE,
)
"""Matches a rule for a choice, as a command or in the first person, and its object."""
_ACT = Pattern(
    r"(?P<before>\A\W*|\b(?:please|to|can|could|will|would|should|shall|must|you|i|we|and|or|just|never|always"
    r"|only|not|(?:do|ca|wo)n['’]t|cannot|let me) )"
    r"(?:book|order|find|get|plan|pick|choose|reserve|schedule|suggest|recommend)\b",
    re.IGNORECASE,
)
"""Matches the verb of a request or a rule, which does not name the thing: to book a flight is not about a book."""


def rule_subject(text: str) -> str | None:
    """Return the words for the thing that a rule for a choice is about; None if `text` is no such rule."""
    found = _RULE.match(text)
    return None if found is None else found.group("thing")


def without_acts(text: str) -> str:
    """Return `text` without the verbs of choosing in it."""
    return _ACT.sub(lambda found: found.group("before"), text)
