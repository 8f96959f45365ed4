"""Secrets: keys and tokens known by their shape, and values that a name announces.

The shapes are the documented prefixes of the issuers. Values that announce no secret stay: a variable
(`password = ${PASSWORD}`), a mask (`****`), an example of one repeated character ("the test code is 000000").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemic.text.pattern import Pattern
from mnemic.types import Found
from mnemic.write.languages import ARE, CODES, KEYS, OF, PASSWORDS
from mnemic.write.patterns import HELD, AnyCase, found, holds, holds_signed, pattern

_KNOWN_SHAPE = (
    r"(?<![A-Za-z0-9_])(?:"
    r"A(?:KIA|SIA|GPA|IDA|ROA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"
    r"|AIza[\w\-]{35}|GOCSPX-[\w\-]{20,64}|ya29\.[\w\-]{20,400}"
    r"|sk-[\w\-]{16,200}|xai-[\w\-]{20,200}|gsk_[A-Za-z0-9]{20,100}|pplx-[A-Za-z0-9]{20,100}|r8_[A-Za-z0-9]{20,64}"
    r"|[spr]k_(?:live|test)_[A-Za-z0-9]{10,200}|whsec_[A-Za-z0-9+/=]{16,100}|sq0[a-z]{3}-[\w\-]{20,64}"
    r"|gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{22,255}|gl(?:pat|rt|dt|cbt|ft|soat|ptt|agent)-[\w\-]{16,200}"
    r"|xox[abeoprs]-[\w\-]{10,250}|xapp-[\w\-]{16,250}"
    r"|(?:npm|hf|sbp|ntn|nvapi|dckr_pat)[_\-][A-Za-z0-9_\-]{20,120}|pypi-[\w\-]{32,255}|rubygems_[a-f0-9]{32,64}"
    r"|SG\.[\w\-]{16,64}\.[\w\-]{16,64}|key-[a-f0-9]{32}|(?:SK|AC)[a-f0-9]{32}(?![A-Za-z0-9])"
    r"|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|do[opr]_v1_[a-f0-9]{32,64}|dapi[a-f0-9]{32}(?:-\d)?|hv[sbr]\.[\w\-]{20,255}"
    r"|lin_(?:api|oauth)_[A-Za-z0-9]{20,64}|ATATT3x[\w\-=]{20,255}|gl(?:sa|c)_[A-Za-z0-9_=]{24,255}"
    r"|NRAK-[A-Z0-9]{20,32}|PMAK-[a-f0-9\-]{24,80}|sntry[su]_[\w+/=\-]{20,255}|pscale_(?:tkn|pw|oauth)_[\w\-.]{16,64}"
    r"|dp\.(?:pt|st|ct|sa)\.[\w\-.]{20,120}|age-secret-key-1[a-z0-9]{30,80}|AGE-SECRET-KEY-1[A-Z0-9]{30,80}"
    r"|\d{8,10}:AA[\w\-]{32,34}(?![\w\-])|[A-Za-z0-9]{14}\.atlasv1\.[\w\-=]{20,100}"
    r"|eyJ[\w\-]{6,4000}\.[\w\-]{6,4000}(?:\.[\w\-]{0,1000})?"
    r")"
)
_SHAPE_STARTS = tuple(
    """
    akia asia agpa aida aroa abia acca aiza gocspx ya29. sk- xai- gsk_ pplx- r8_ k_live_ k_test_ whsec_ sq0 ghp_ gho_
    ghu_ ghs_ ghr_ github_pat_ glpat- glrt- gldt- glcbt- glft- glsoat- glptt- glagent- xox xapp- npm hf sbp ntn nvapi
    dckr_pat pypi- rubygems_ sg. key- sk ac shp _v1_ dapi hvs. hvb. hvr. lin_ atatt3x glsa_ glc_ nrak- pmak- sntry
    pscale_ dp. age-secret-key :aa .atlasv1. eyj
    """.split()
)
_SIGNED_STARTS = {
    sign: tuple(start for start in _SHAPE_STARTS if next((each for each in "_-.:" if each in start), "") == sign)
    for sign in ("", "_", "-", ".", ":")
}
_WEBHOOK = AnyCase(
    r"(?<=://)(?:hooks\.slack\.com/(?:services|workflows)/([\w/]{20,120})"
    r"|(?:\w{1,12}\.)?discord(?:app)?\.com/api/webhooks/([\w\-/]{20,160}))"
)
_PEM = (
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]*+(?:-(?!----)[^-]*+)*+"
    r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_WORD = r"(?:pass[ _\-]?(?:word|wd|phrase|code)|pwd)"
_SECRET_NAME = AnyCase(
    rf"(?<![^\W_])(?:(?P<word>{_WORD})|secret(?:[_ \-]?(?:access[_ \-]?)?key)?"
    r"|(?:api|app|bot)[_ \-]?(?:key|token|secret)|(?:access|auth|session|refresh|private|encryption|signing|account"
    r"|bearer|licen[cs]e|activation|product|firmware|recovery|security|master|shared|ssh|service)[_ \-]?(?:key|token)"
    r"|(?:client|consumer|webhook)[_ \-]?(?:secret|token)|shared[_ \-]?access[_ \-]?signature"
    r"|session[_ \-]?(?:id|cookie)"
    r"|(?P<code>(?:security|verification|authenti(?:cation|cator)|access|unlock|login|log-in|sign-?in|one[ \-]?time"
    r"|2fa|mfa|two[ \-]factor|activation|backup|recovery|firmware|licen[cs]e|sms|otp)[ \-]?(?:pass)?code)"
    r"|token|credentials?)"
)
_VALUE = r"[^\s\"',;\ufdd0]"
_ASSIGNED = Pattern(rf"[\"']?[ \t]{{0,3}}(?:=>|:=|[=:])[ \t]{{0,3}}[\"'`]?({_VALUE}{{4,256}})")
_TOLD = Pattern(rf"[ \t](?:for {_VALUE}{{1,40}}[ \t])?(?:is|was|es|est|ist|è|é)[ \t]{{1,3}}[\"'`]?({_VALUE}{{4,256}})")
_FOLLOWS = Pattern(rf"[ \t]{{1,3}}[\"'`]?({_VALUE}{{6,256}})")
_CREDENTIALS = Pattern(r"[^\s/@:\ufdd0]{0,64}:([^\s/@\ufdd0]{1,128})@")
_QUERY = AnyCase(
    r"[?&](?:(?:access|api|auth|refresh|id|session|sas)?[_\-]?(?:token|key|secret|password|sig|signature|auth)"
    r"|x-amz-signature|code|sid|jwt)=([\w.~%+/=\-]{8,2000})"
)
_NO_VALUE = Pattern(
    r"(?i)[$%]?[({<\[].*|\$\w+|os\.environ.*|process\.env.*|getenv.*|(?:none|null|nil|true|false|undefined|required"
    r"|optional|string|str|bytes|redacted|hidden|expired|invalid|wrong|missing|empty|incorrect)[)\].:!?]*"
)
_EXAMPLE = Pattern(r"(?i)(?<!\w)(?:test|demo|sample|dummy|example|placeholder)(?!\w)")
_TELLS = Pattern(r"[\d@#$%^&*_+=~|]|!(?!!*\Z)")
_DIGIT = Pattern(r"\d")
_LETTER = Pattern(r"[^\W\d_]")


def _telling(value: str) -> bool:
    """Prose ("the password is required") is told from a value by a digit or a sign in it."""
    return _TELLS.compiled.search(value) is not None


def _mixed(value: str) -> bool:
    """Where nothing but a name announces it, a value must look like one: digits among letters or signs."""
    return (
        _DIGIT.compiled.search(value) is not None
        and not value.rstrip(".:").isdigit()
        and _LETTER.compiled.search(value) is not None
    )


def _empty(value: str) -> bool:
    """Whether `value` says nothing wherever it stands: a variable or a mask."""
    return not value.isdigit() and (
        _NO_VALUE.compiled.fullmatch(value) is not None or not value.rstrip(".!?)").strip("*.x\u2022#")
    )


def _is_example(text: str, start: int, value: str) -> bool:
    """Whether `value` at `start` is an example of one character."""
    if value[1] != value[0] and value[1].isalnum():
        return False
    shown = value.rstrip(".!?)")
    return shown.count(shown[0]) == len(shown) and _EXAMPLE.search(text, max(0, start - 64), start) is not None


def named_secrets(text: str) -> Iterator[Found]:
    """The value in `password=value`, `token: value`, "my password is value" and "password v4lue"."""
    if not holds(text, ("pass", "pwd", "secret", "key", "token", "credential", "code", "session")):
        return
    names, words = _SECRET_NAME.on(text)
    empty: dict[str, bool] = {}
    name = names.search(words)
    while name is not None:
        match = _announced(text, name)
        if match is None:
            name = names.search(words, name.end())
            continue
        start, end = match.span(1)
        value = text[start:end]
        if value not in empty:
            empty[value] = _empty(value)
        if empty[value] or _is_example(text, start, value):
            name = names.search(words, name.end())
            continue
        if match.re is not _ASSIGNED.compiled:
            value = value.rstrip(".")
        yield found((start, start + len(value), value))
        # What stands in a value is hidden with it: looking there again would make long values costly.
        name = names.search(words, end)


def _announced(text: str, name: re.Match[str]) -> re.Match[str] | None:
    """The value behind `name`: assigned, told by "is", or for words of passwords just standing there."""
    end = name.end()
    behind = text[end : end + 2]
    if behind[:1] not in _BEHIND or HELD in text[end : end + _SHORTEST]:
        return None
    if behind[-1] in _ASSIGNING or behind[0] not in " \t":
        match = _ASSIGNED.compiled.match(text, end)
        if match is not None and not (name["code"] and not _telling(match.group(1))):
            return match
    if behind[-1] in "fiweèé":
        match = _TOLD.compiled.match(text, end)
        if match is not None:
            return match if _telling(match.group(1)) else None
    match = _FOLLOWS.compiled.match(text, end) if name["word"] else None
    return match if match is not None and _mixed(match.group(1)) else None


_SHORTEST = 5
"""A sign and a value of four characters: what may stand behind a name has no fewer."""
_BEHIND = frozenset(" \t\"'=:")
"""What may stand behind a name that announces something."""
_ASSIGNING = frozenset(" \t=:")
"""What may stand behind a blank there, where the value is assigned."""


_ABROAD = AnyCase(f"(?P<password>{PASSWORDS.expression})|(?P<key>{KEYS.expression})|(?P<code>{CODES.expression})")
_OF_WHAT = rf"(?:[ \t]{OF}(?:[ \t][^\W\d_]{{1,20}}){{1,4}}?)?"
_GIVEN = r"[\"'`«“「]?(?P<value>[^\s\"',;。、」”»\ufdd0]{4,256})"
_SAID = Pattern(
    rf"(?i){_OF_WHAT}(?:(?P<assigned>[ \t]{{0,3}}(?:=>|:=|[=:]|-(?=[ \t]))[ \t]{{0,3}})|[ \t]{{0,2}}{ARE}[ \t]{{1,3}})"
    rf"{_GIVEN}"
)
_STANDS = Pattern(rf"(?i){_OF_WHAT}[ \t]{{1,3}}{_GIVEN}")
_STOPS = ".!?)"


def named_abroad(text: str) -> Iterator[Found]:
    """The same in other languages than English: "contraseña del wifi: value", "mein Passwort ist v4lue"."""
    if not (PASSWORDS.may_be_in(text) or KEYS.may_be_in(text) or CODES.may_be_in(text)):
        return
    names, words = _ABROAD.on(text)
    for name in names.finditer(words):
        for expression in (_SAID, _STANDS):
            match = expression.compiled.match(text, name.end())
            if match is not None and (secret := _secret(text, name, match)):
                yield secret
                break


def _secret(text: str, name: re.Match[str], match: re.Match[str]) -> Found | None:
    start, value = match.start("value"), match["value"].rstrip(_STOPS)
    said = match.re is _SAID.compiled
    if not _fits(value, str(name.lastgroup), said=said, assigned=said and match["assigned"] is not None):
        return None
    if _empty(value) or _is_example(text, start, value):
        return None
    return Found(start, start + len(value), value)


def _fits(value: str, kind: str, *, said: bool, assigned: bool) -> bool:
    """The less the words around a value tell, the more it must look like a secret by itself."""
    if len(value) < _LEAST:
        return False
    if kind == "key":
        return (len(value) >= _LEAST_OF_A_KEY and _mixed(value)) or (said and value.isdigit())
    if said:
        return (assigned and kind == "password") or _telling(value)
    return value.isdigit() if kind == "code" else _mixed(value)


_LEAST, _LEAST_OF_A_KEY = 4, 6


def url_credentials(text: str) -> Iterator[Found]:
    """The password in `scheme://user:password@host`."""
    at = text.find("://")
    while at != -1:
        match = _CREDENTIALS.match(text, at + 3)
        if match is not None:
            yield found((match.start(1), match.end(1), match.group(1)))
        at = text.find("://", at + 3)


def webhooks(text: str) -> Iterator[Found]:
    """The secret path of a webhook's address."""
    for find in _webhook(text):
        cut = find.value.index("/", find.value.index("/") + 1)
        yield Found(find.start + cut + 1, find.end, find.value[cut + 1 :])


def _no_example(match: re.Match[str]) -> bool:
    return not _is_example(match.string, match.start(1), match.group(1))


_webhook = pattern(_WEBHOOK, needs=("hooks.slack.com", "webhooks"))
secrets = (
    pattern(_KNOWN_SHAPE, needs=lambda text: holds_signed(text, _SIGNED_STARTS)),
    pattern(_PEM, needs=("private key",)),
    url_credentials,
    named_secrets,
    named_abroad,
    webhooks,
    pattern(_QUERY, needs=("=",), group=1),
    pattern(
        AnyCase(r"(?<!\w)(?:bearer|basic)[ \t]{1,3}((?=[^ ]{0,200}\d)[\w.~+/=\-]{16,1024})"),
        needs=("bearer", "basic"),
        group=1,
    ),
    pattern(r"-(?<!\w.)(?:u|-user)[ =]{1,2}[^\s:]{1,64}:([^\s\ufdd0]{3,128})", needs=("-u", "--user"), group=1),
    pattern(
        AnyCase(
            r"[poc](?<!\w.)(?:(?<=p)in|(?<=o)tp|(?<=c)v[vc]2?|(?<=p)asscode)(?: code| number)?[ \t]{0,2}"
            r"(?: (?:is|es|est|ist|è|é)|:|=)?"
            r"[ \t]{0,2}(\d{3,8})(?!\w|[.,]\d)"
        ),
        needs=("pin", "otp", "cv", "passcode"),
        accept=_no_example,
        group=1,
    ),
    pattern(
        AnyCase(
            r"(\d(?<![\w.,\-]\d)\d{3,7}) (?:is|as) (?:my|your|the|our) (?:\w{2,14} ){0,3}"
            r"(?:code|pin|otp|passcode)(?!\w)"
        ),
        needs=("code", "pin", "otp"),
        accept=_no_example,
        group=1,
    ),
)
"""Every search for secrets."""
