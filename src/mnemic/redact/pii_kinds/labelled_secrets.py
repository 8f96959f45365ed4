"""Secrets that are recognised by a label only: "password=value", "the alarm code is 4821", "contraseña del wifi:
value".

A name may be followed by its object ("for the wifi"), then by the value: assigned, after "is", or with nothing between.
The weaker these cues are, the more the value alone must look like a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemic.redact.languages import ARE, CODES, KEYS, OF, PASSWORDS
from mnemic.redact.lazy_pattern import Pattern
from mnemic.redact.pii_kinds.told_secrets import find_told
from mnemic.redact.search_primitives import AnyCase, found, holds, pattern
from mnemic.redact.types import Found

_PLACES = (
    "gate|(?:front |back |garage )?door|alarm|garage|building|house|office|entrance|entry|lobby|elevator|lift|keypad"
    "|gym|safe|vault|lock(?:er|box)?|padlock|suitcase|wi-?fi|phone|sim|tablet|laptop|flat|apartment"
)
# "pass" alone is a password in notes ("wifi pass: ..."), but a boarding pass or a ski pass is none. One lookbehind
# each, because Python's have a fixed width.
_NO_PASSWORD = "".join(
    f"(?<!{kind} pass)" for kind in "boarding bus day week month season ski train travel park press hall guest".split()
)
_ENGLISH = AnyCase(
    r"(?<![^\W_])(?:(?P<password>pass[ _\-]?(?:word|wd|phrase|code)|pwd)"
    rf"|(?P<key>pass){_NO_PASSWORD}(?![\w\-])"
    r"|(?P<code>(?:security|verification|authenti(?:cation|cator)|access|unlock|login|log-in|sign-?in|one[ \-]?time"
    r"|2fa|mfa|two[ \-]factor|activation|backup|recovery|firmware|licen[cs]e|sms|otp)[ \-]?(?:pass)?code"
    rf"|(?:{_PLACES}) (?:code|combination)"
    rf"|(?:code|combination)(?= (?:for|of|to|on) (?:(?:the|my|our|your|his|her|their) )?(?:{_PLACES})(?!\w)))"
    r"|(?P<token>secret(?:[_ \-]?(?:access[_ \-]?)?key)?"
    r"|(?:api|app|bot)[_ \-]?(?:key|token|secret)|(?:access|auth|session|refresh|private|encryption|signing|account"
    r"|bearer|licen[cs]e|activation|product|firmware|recovery|security|master|shared|ssh|service)[_ \-]?(?:key|token)"
    r"|(?:client|consumer|webhook)[_ \-]?(?:secret|token)|shared[_ \-]?access[_ \-]?signature"
    r"|session[_ \-]?(?:id|cookie)|token|credentials?))"
)
_SIGNS = ("pass", "pwd", "secret", "key", "token", "credential", "code", "session", "combination")
"""Substrings of which every match of `_ENGLISH` contains one."""
_ABROAD = AnyCase(f"(?P<password>{PASSWORDS.expression})|(?P<key>{KEYS.expression})|(?P<code>{CODES.expression})")
_OF_WHAT = rf"(?P<of>[ \t]{OF}(?:[ \t][^\s=:\"',;]{{1,40}}){{1,4}}?)?"
_VALUE = r"[\"'`«“「]?(?P<value>[^\s\"',;。、」”»\ufdd0]{4,256})"
_SAID = Pattern(
    rf"(?i){_OF_WHAT}(?:(?P<assigned>[\"']?[ \t]{{0,3}}(?:=>|:=|[=:])[ \t]{{0,3}})"
    rf"|(?:[ \t]{{0,2}}{ARE}|'s|[ \t]{{1,2}}-)[ \t]{{1,3}}){_VALUE}"
)
_STANDS = Pattern(rf"(?i){_OF_WHAT}[ \t]{{1,3}}(?=[^\s]{{0,200}}\d){_VALUE}")
"""A bare value must contain a digit."""
_BEGIN = frozenset(" \t\"'=:是为為は는은ค")
_BEGIN_SAID = frozenset(" \t\"'`=:-aAdDeEfFiIlLoOsStTvVwWjJäÄéÉèÈэЭоОдДкКهह是为為は는은ค")
"""First characters that may follow a name, and second characters if a value is given: the initials of `OF` and `ARE`. A
cheap test before the full expression.
"""
# Placeholders, variables and look-ups in code refer to a secret without containing it, and "password: incorrect" is a
# message.
_NO_VALUE = Pattern(
    r"(?i)[$%]?[({<\[].*|\$\w+|os\.environ.*|process\.env.*|getenv.*|(?:none|null|nil|true|false|undefined|required"
    r"|optional|string|str|bytes|redacted|hidden|expired|invalid|wrong|missing|empty|incorrect)[)\].:!?]*"
)
# A value that is marked as an example is left, so that documentation and tutorials stay readable.
_EXAMPLE = Pattern(r"(?i)(?<!\w)(?:test|demo|sample|dummy|example|placeholder)(?!\w)")
_TELLS = Pattern(r"[\d@#$%^&*_+=~|]|!(?!!*\Z)")
_DIGIT = Pattern(r"\d")
_LETTER = Pattern(r"[^\W\d_]")
_A_CODE = Pattern(r"[0-9][0-9\-]*[#*]?")
_MIN_ALONE = 6


_NAMED = rf"(?:pass[ _-]?(?:word|phrase|code|key)s?|p(?:ass)?w(?:or)?d|pw|{PASSWORDS.expression})"
_PAIRS = pattern(
    AnyCase(
        r"(?<![^\W_])(?:[^\s:=|/,;]{2,24}[ ]?[:=][ ]?(?:admin|root|guest|[^\s/|,;:@]{1,48}@[^\s/|,;:@]{3,64})"
        r"|(?:log-?in|user(?:[ _-]?name)?|benutzer(?:name)?|utilisateur|identifiant|usuario|usuário|utente"
        r"|gebruiker(?:snaam)?|account|wi-?fi|wlan|ssid)[ ]?[:=][ ]?[^\s/|,;:]{1,64})[ \t]{0,3}"
        r"(?P<sign>[/|,;\n])[ \t]{0,3}"
        rf"(?P<label>(?:{_NAMED}|pass)[ ]?[:=][ ]?)?(?P<word>[^\s\"',;。、」”»\ufdd0]{{4,64}})"
    ),
    needs=(
        "log",
        "user",
        "benutzer",
        "utilis",
        "ident",
        "usu",
        "utente",
        "gebruik",
        "account",
        "fi",
        "wlan",
        "ssid",
        "admin",
        "root",
        "guest",
        "@",
    ),
    accept=lambda match: match["label"] is not None or (match["sign"] in "/|" and _telling(match["word"])),
    group=3,
)
"""A name and its password: "login: sam / pw: ..."."""


def find_announced(text: str) -> Iterator[Found]:
    """Yield every value of `text` after a label, and those that a sentence tells."""
    for search in (_PAIRS, find_told):
        for start, _, value in search(text):
            bare = value.rstrip(".!?)")
            if not _says_nothing(bare) and not is_example(text, start, bare):
                yield found((start, start + len(bare), bare))
    if holds(text, _SIGNS):
        yield from _find_behind(text, _ENGLISH)
    if PASSWORDS.may_be_in(text) or KEYS.may_be_in(text) or CODES.may_be_in(text):
        yield from _find_behind(text, _ABROAD)


def _find_behind(text: str, named: AnyCase) -> Iterator[Found]:
    names, words = named.on(text)
    empty: dict[str, bool] = {}
    name = names.search(words)
    while name is not None:
        value = _value(text, name)
        if value is None:
            name = names.search(words, name.end())
            continue
        # Cached by value: a log may repeat one value thousands of times.
        if value.value not in empty:
            empty[value.value] = _says_nothing(value.value)
        if empty[value.value] or is_example(text, value.start, value.value):
            name = names.search(words, name.end())
            continue
        yield value
        # A value is redacted as a whole, so a name inside it needs no search; searching it again would make long values
        # costly.
        name = names.search(words, value.end)


def _value(text: str, name: re.Match[str]) -> Found | None:
    kind, end = str(name.lastgroup), name.end()
    behind = text[end : end + 2]
    if behind[:1] not in _BEGIN:
        return None
    if behind[0] not in " \t" or behind[-1] in _BEGIN_SAID:
        said = _SAID.compiled.match(text, end)
        if said is not None and _fits_said(said, kind):
            return _as_found(said, assigned=said["assigned"] is not None)
    stated = None if kind == "token" else _STANDS.compiled.match(text, end)
    return _as_found(stated) if stated is not None and _fits_alone(stated["value"], kind) else None


def _as_found(match: re.Match[str], *, assigned: bool = False) -> Found:
    start, value = match.start("value"), match["value"]
    if not assigned:
        value = value.rstrip(".")
    return found((start, start + len(value), value))


def _fits_said(said: re.Match[str], kind: str) -> bool:
    value = said["value"].rstrip(".")
    if kind == "key":
        return value.isdigit() or (len(value) >= _MIN_ALONE and _is_mixed(value))
    if said["assigned"] is not None and (kind == "password" or (kind == "token" and said["of"] is None)):
        return True
    return _telling(value)


def _fits_alone(value: str, kind: str) -> bool:
    if kind == "code":
        return _A_CODE.compiled.fullmatch(value.rstrip(".")) is not None
    return len(value) >= _MIN_ALONE and _is_mixed(value)


def _telling(value: str) -> bool:
    """Return True if a value contains a digit or a sign: "the password is required" is prose."""
    return _TELLS.compiled.search(value) is not None


def _is_mixed(value: str) -> bool:
    """Return True if `value`, announced only by a name, looks like a value: digits among letters or signs."""
    return (
        _DIGIT.compiled.search(value) is not None
        and not value.rstrip(".:").isdigit()
        and _LETTER.compiled.search(value) is not None
    )


def _says_nothing(value: str) -> bool:
    """Return True if `value` is a variable or a mask, at any place."""
    return not value.isdigit() and (
        _NO_VALUE.compiled.fullmatch(value) is not None or not value.rstrip(".!?)").strip("*.x\u2022#")
    )


def is_example(text: str, start: int, value: str) -> bool:
    """Return True if `value` at `start` is an example of one character ("the test code is 000000")."""
    if value[1:2] != value[0] and value[1:2].isalnum():
        return False
    shown = value.rstrip(".!?)")
    return shown.count(shown[0]) == len(shown) and _EXAMPLE.search(text, max(0, start - 64), start) is not None
