"""Addresses of machines and devices: IP version 4 and 6, MAC, IMEI."""

from __future__ import annotations

import re

from mnemic.write.patterns import digits, pattern, spelled

_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_VERSION = re.compile(r"(?i)(?:\bv(?:er(?:sion)?)?|release|build|section|chapter)$")
_NOBODY = ("127.", "0.", "255.255.255.")


def _somebody(match: re.Match[str]) -> bool:
    if match.group().startswith(_NOBODY):
        return False
    before = match.string[max(0, match.start() - 12) : match.start()].rstrip(" .:")
    return not (before[-1:].isalpha() and _VERSION.search(before))


_LONG_GROUP = re.compile(r"[^:]{5}|:::")
_ANY_DIGIT = re.compile(r"\d")


def _ipv6(match: re.Match[str]) -> bool:
    address = match.group()
    colons, gaps = address.count(":"), address.count("::")
    if gaps > 1 or not (gaps or colons == 7):
        return False
    groups = colons - (address.startswith("::") + address.endswith("::"))
    if gaps and not 3 <= groups <= 7:
        return False
    return _LONG_GROUP.search(address) is None and _ANY_DIGIT.search(address) is not None


ips = spelled(
    str.casefold,
    pattern(rf"(?<![\w.])(?:{_OCTET}\.){{3}}{_OCTET}(?!\w|\.\d)", needs=(".",), accept=_somebody),
    pattern(r"(?<![\w:.])(?=[^:]{0,4}:)[0-9A-Fa-f:]{5,39}+(?<!(?<!:):)(?![\w:])", needs=(":",), accept=_ipv6),
)
"""IP addresses, but for those that are everybody's: loopback, unspecified, broadcast."""


def _one_device(match: re.Match[str]) -> bool:
    return len(set(_plain(match.group(match.lastindex or 0)))) > 1


def _plain(value: str) -> str:
    return re.sub(r"[^0-9a-z]", "", value.casefold())


macs = spelled(
    _plain,
    pattern(
        r"(?<![\w:\-])(?:(?:[0-9A-Fa-f]{2}:){5}|(?:[0-9A-Fa-f]{2}-){5})[0-9A-Fa-f]{2}(?![\w:]|-\w)",
        needs=(":", "-"),
        accept=_one_device,
    ),
    pattern(r"(?<![\w.])(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}(?![\w.])", needs=(".",), accept=_one_device),
    # Named as one, it is taken also where a letter is mistyped.
    pattern(
        r"(?i)(?<!\w)mac(?: ?address| ?id)?(?: is|:|=)?[ \t]{0,3}((?:[0-9a-z]{2}[:\-]){5}[0-9a-z]{2})(?!\w)",
        needs=("mac",),
        accept=_one_device,
        group=1,
    ),
)
"""Hardware addresses of 48 bits (IEEE 802), but for those of no device."""

imeis = spelled(
    digits,
    pattern(
        # A single digit tells of which of several; one that others follow begins the number.
        r"(?i)(?<!\w)(?:imei(?:sv)?|meid)(?:[ /]?\d(?!\d))?(?: number| no\.?| code)?(?: is|:|=|#| -)?[ \t]{0,3}"
        r"(\d(?:[ \-/]?\d){13,15})(?!\d)",
        needs=("imei", "meid"),
        accept=_one_device,
        group=1,
    ),
)
"""Numbers of mobile equipment (3GPP TS 23.003), where a word says so: their check digit alone tells too little."""
