"""Secrets: keys and tokens known by their shape, those in addresses and commands, and values that a name announces.

The shapes are the documented prefixes of the issuers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemic.redact.lazy_pattern import Pattern
from mnemic.redact.pii_kinds.labelled_secrets import find_announced, is_example
from mnemic.redact.search_primitives import AnyCase, found, holds_signed, pattern
from mnemic.redact.types import Found

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
_SEED = AnyCase(
    r"(?:seed|recovery|backup|mnemonic|secret) (?:phrase|words)(?: is| are|:|=){0,2} {0,2}"
    r"((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})(?![\w\-])"
)
"""Words of BIP 39, which have three to eight letters: a dozen such in a row are rare in prose."""
_CREDENTIALS = Pattern(r"[^\s/@:\ufdd0]{0,64}:([^\s/@\ufdd0]{1,128})@")
_QUERY = AnyCase(
    r"[?&](?:(?:access|api|auth|refresh|id|session|sas)?[_\-]?(?:token|key|secret|password|sig|signature|auth)"
    r"|x-amz-signature|code|sid|jwt)=([\w.~%+/=\-]{8,2000})"
)


def url_credentials(text: str) -> Iterator[Found]:
    """Yield the password in `scheme://user:password@host`."""
    at = text.find("://")
    while at != -1:
        match = _CREDENTIALS.match(text, at + 3)
        if match is not None:
            yield found((match.start(1), match.end(1), match.group(1)))
        at = text.find("://", at + 3)


def webhooks(text: str) -> Iterator[Found]:
    """Yield the secret path of a webhook's address."""
    for find in _webhook(text):
        cut = find.value.index("/", find.value.index("/") + 1)
        yield Found(find.start + cut + 1, find.end, find.value[cut + 1 :])


def _no_example(match: re.Match[str]) -> bool:
    return not is_example(match.string, match.start(1), match.group(1))


_webhook = pattern(_WEBHOOK, needs=("hooks.slack.com", "webhooks"))
secrets = (
    pattern(_KNOWN_SHAPE, needs=lambda text: holds_signed(text, _SIGNED_STARTS)),
    pattern(_PEM, needs=("private key",)),
    pattern(_SEED, needs=("phrase", "words"), group=1),
    url_credentials,
    find_announced,
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
