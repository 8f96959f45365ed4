"""Spellings of closed sets of values: the spoken forms, and the one stored form."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from mnemic.language.lexicon import no_places
from mnemic.language.sentences.special_topics import special_topics
from mnemic.language.sentences.tables import lower, tidy
from mnemic.language.text.normalise import plain
from mnemic.language.text.pattern import plain_letters


def _table(**forms: str) -> Mapping[str, str]:
    """Return `{spoken: stored}` from `stored="spoken|spoken"`; underscores represent spaces."""
    pairs = {name.replace("_", " "): name.replace("_", " ") for name in forms}
    for stored, spoken in forms.items():
        pairs |= {form: stored.replace("_", " ") for form in spoken.split("|") if form}
    return MappingProxyType(pairs)


LANGUAGES = _table(
    english="inglés|ingles", spanish="español|espanol|castellano", french="français|francés|frances",
    german="deutsch|alemán|aleman", italian="italiano", portuguese="português|portugués|portugues", dutch="holandés",
    japanese="日本語|japonés", chinese="中文|mandarin|chino", korean="한국어|coreano", russian="русский|ruso",
    arabic="árabe", hindi="", polish="polaco", swedish="sueco", norwegian="noruego", danish="danés",
    finnish="", turkish="turco",
    greek="griego", hebrew="hebreo", catalan="catalán|català", ukrainian="", czech="", hungarian="", romanian="",
    vietnamese="", thai="", indonesian="", cantonese="", bengali="", urdu="", persian="farsi", basque="euskera",
    galician="gallego",
)  # fmt: skip

STYLES = _table(
    concise="short|brief|succinct|terse|to the point|crisp|concisa|concisas|conciso|concisos|corta|cortas|corto|cortos|"
    "breve|breves",
    detailed="long|thorough|in depth|in-depth|comprehensive|elaborate|detalladas|detallada|detallado|largas",
    bulleted="bullet points|bullet-point|bullets|bullet point|bulleted lists|en puntos|viñetas",
    formal="professional|formales",
    casual="informal|friendly|relaxed|informales",
)

CHANNELS = _table(
    email="e-mail|mail|emails|correo|correo electrónico|correo electronico", slack="", sms="text|text message|texts",
    phone="call|phone call|phone calls|teléfono|telefono|llamada", teams="microsoft teams|ms teams", whatsapp="",
    telegram="", discord="", signal="", pagerduty="",
)  # fmt: skip

TIERS = _table(
    enterprise="empresarial", free="gratuito|gratis", basic="básico|basico", standard="estándar", pro="professional",
    business="", premium="", starter="", team="", gold="oro", silver="plata", platinum="platino", vip="",
)  # fmt: skip

FLIGHT_TIMES = _table(
    early_morning="early-morning|early|primera hora", morning="mañana", midday="noon|mediodía",
    afternoon="tarde", evening="", night="late-night|late night|overnight|late|noche",
)  # fmt: skip
FLIGHT_TIMES = MappingProxyType({**FLIGHT_TIMES, **dict.fromkeys(("red-eye", "red eye", "redeye"), "red-eye")})

SEATS = _table(
    aisle="pasillo", window="ventana|ventanilla", middle="", exit_row="exit-row", bulkhead="",
    front_row="front|front-row",
)  # fmt: skip

CABINS = _table(
    economy="coach|turista|economy", premium_economy="premium-economy", business="ejecutiva", first="primera"
)

DIETS = _table(
    vegetarian="veggie|vegetariano|vegetariana", vegan="plant-based|vegano|vegana", pescatarian="pescetarian",
    keto="ketogenic", paleo="", halal="", kosher="", celiac="coeliac|celíaco|celíaca|celiaco|celiaca",
    gluten_free="gluten-free|sin gluten", dairy_free="dairy-free", lactose_intolerant="lactose-intolerant",
    low_carb="low-carb", diabetic="diabético|diabética",
)  # fmt: skip

STOPS = MappingProxyType(
    dict.fromkeys(("nonstop", "non-stop", "non stop", "direct", "directo", "directos", "sin escalas"), "nonstop")
)


def choice(forms: Mapping[str, str]) -> str:
    """Return a pattern part that matches any spoken form, longest first."""
    escaped = (re.escape(form).replace("\\ ", " ") for form in sorted(forms, key=len, reverse=True))
    return "(?:" + "|".join(escaped) + ")"


def one_of(forms: Mapping[str, str]) -> Callable[[str], str | None]:
    """Return a function that returns the stored form of a spoken one, None for any other."""
    return lambda value: forms.get(lower(value))


_ZONES = "africa|america|antarctica|arctic|asia|atlantic|australia|europe|indian|pacific|etc"
_NAMED_ZONES = MappingProxyType({"pacific": "PT", "eastern": "ET", "central": "CT", "mountain": "MT"})
ZONE = (
    rf"(?:(?:{_ZONES})/[a-z_+\-0-9]{{2,30}}(?:/[a-z_]{{2,30}})?|(?:utc|gmt)\s?[+-]\s?\d{{1,2}}(?::\d\d)?|utc|gmt|"
    rf"cest|cet|bst|"
    r"[ecmp][sd]?t|ist|jst|kst|aest|aedt|sgt|hkt|(?:us )?(?:pacific|eastern|central|mountain) (?:standard |"
    r"daylight )?time)"
)
"""A time zone: an IANA name, an offset, an abbreviation, or a zone of the USA by its name."""


def zone(value: str) -> str:
    """Return a time zone in its usual spelling: `Europe/Madrid`, `UTC+2`, `CET`, `PT`."""
    text = tidy(plain_letters(value))
    if "/" in text:
        return "/".join(
            "_".join(part[:1].upper() + part[1:].lower() for part in piece.split("_")) for piece in text.split("/")
        )
    named = re.search("|".join(_NAMED_ZONES), text, re.IGNORECASE)
    return _NAMED_ZONES[named[0].lower()] if named else text.upper().replace(" ", "")


_NO_NAME = frozenset(
    "a an the not so very really just here there sure sorry fine good ok okay happy sad tired back done going trying "
    "looking from in on at vegetarian vegan single married new also still now".split()
)


def name(value: str) -> str | None:
    """Return a person's name: one to four words, all capitalised or none, without everyday words; else None."""
    words = tidy(value).split()
    if not 1 <= len(words) <= 4 or words[0].lower() in _NO_NAME:
        return None
    capital = [
        word for word in words if word[:1].isupper() or word.lower() in ("de", "del", "la", "van", "von", "da", "y")
    ]
    kept = words[: next((at for at, word in enumerate(words) if word not in capital), len(words))]
    return " ".join(kept) if kept else None


_SPELT_AS_PRODUCT = re.compile(
    r"(?<!\w)(?:the )?(?:[A-Z][a-z]{1,20}[A-Z]\w*|[A-Za-z]{1,20}\d\w*|[A-Za-z]{1,20}\.(?:js|io|com|ai|app))\b"
)
"""Matches a spelling of products that places do not have: "IntelliJ", "Node.js"."""


def place(value: str) -> str | None:
    """Return a place's name, from its capital letter to the last capitalised word; None if it is no place."""
    words = tidy(value).split()
    if plain(words[0].rstrip(",") if words else "") in no_places() or _SPELT_AS_PRODUCT.match(value):
        return None
    small = ("de", "del", "la", "las", "los", "of", "the", "upon", "am")
    if not words or not words[0][:1].isupper() or not words[0].replace("-", "").replace("'", "").isalpha():
        return None
    end = next((at for at, word in enumerate(words) if not word[:1].isupper() and word not in small), len(words))
    while end and words[end - 1] in small:
        end -= 1
    return " ".join(words[:end]).rstrip(",") or None


_NOT_JOBS = re.compile(
    r"\b(?:person|fan|lover|beginner|member|customer|user|owner|father|mother|parent|believer|runner|night owl|bit|lot|"
    r"little|man|woman|guy|girl|boy|kid|adult|vegetarian|vegan|smoker|drinker|eater|reader|foodie|citizen|native|"
    r"speaker|"
    r"student|twin|brother|sister|widower|survivor|newcomer|subscriber|supporter|sleeper|driver's|huge|big|loser|"
    r"winner|sucker|learner|dreamer|thinker|listener|riser|perfectionist|optimist|pessimist|realist|procrastinator"
    r"|lurker|"
    r"hoarder|worrier|overthinker|explorer|wanderer|monster|goner|quitter|gangster|imposter|impostor|slacker|keeper)\b",
    re.IGNORECASE,
)
_JOBS = re.compile(
    r"\b(?:\w{2,20}(?:er|or|ist|ian|eer|ant|yst)|nurse|chef|cook|pilot|attorney|judge|architect|scientist|clerk|coach|"
    r"freelancer|journalist|ceo|cto|cfo|intern|paramedic|mechanic|vet|surgeon|lead|analyst|barista|farmer|dba|sre)$",
    re.IGNORECASE,
)


def job(value: str) -> str | None:
    """Return an occupation, by its ending; None for other nouns ("a morning person"), and for what somebody believes
    or is before the law ("an asylum seeker").
    """
    text = tidy(value)
    found = _JOBS.search(text) and not _NOT_JOBS.search(text) and len(text.split()) <= 5
    return text if found and not special_topics(f"I am a {text}") else None
