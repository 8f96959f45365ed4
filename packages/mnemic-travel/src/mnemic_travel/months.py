"""Names of months and the words around them, in the languages that confirmations are written in."""

from __future__ import annotations

import unicodedata

_FULL = {
    "en": "january february march april may june july august september october november december",
    "de": "januar februar märz april mai juni juli august september oktober november dezember",
    "at": "jänner feber märz april mai juni juli august september oktober november dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "sv": "januari februari mars april maj juni juli augusti september oktober november december",
    "da": "januar februar marts april maj juni juli august september oktober november december",
    "no": "januar februar mars april mai juni juli august september oktober november desember",
    "fi": "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta "
    "lokakuuta marraskuuta joulukuuta",
    "pl": "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "cs": "ledna února března dubna května června července srpna září října listopadu prosince",
    "ca": "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
}
_SHORT = {
    "en": "jan feb mar apr may jun jul aug sep oct nov dec",
    "de": "jan feb mär apr mai jun jul aug sep okt nov dez",
    "fr": "janv févr mars avr mai juin juil août sept oct nov déc",
    "fr2": "jan fév mar avr mai jui jul aoû sep oct nov déc",
    "es": "ene feb mar abr may jun jul ago sep oct nov dic",
    "it": "gen feb mar apr mag giu lug ago set ott nov dic",
    "pt": "jan fev mar abr mai jun jul ago set out nov dez",
    "nl": "jan feb mrt apr mei jun jul aug sep okt nov dec",
    "sv": "jan feb mar apr maj jun jul aug sep okt nov dec",
    "pl": "sty lut mar kwi maj cze lip sie wrz paź lis gru",
    "more": "jan febr mrz april mei june july augu sept okt nov dec",
}


def fold_text(text: str) -> str:
    """`text` in lower case without accents."""
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in parts if not unicodedata.combining(c))


def _month_numbers() -> dict[str, int]:
    found: dict[str, int] = {}
    for names in (*_FULL.values(), *_SHORT.values()):
        for number, name in enumerate(names.split(), start=1):
            found.setdefault(fold_text(name), number)
    del found["jui"]  # French June or July
    return found


MONTHS = _month_numbers()
"""Number of the month by its name or usual abbreviation, in lower case and without accents."""


def month_named(name: str) -> int | None:
    """Return the month that `name` names in any of the languages, or None."""
    return MONTHS.get(fold_text(name).strip(". "))
