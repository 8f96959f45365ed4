"""Addresses of machines and devices: IP version 4 and 6, MAC, IMEI."""

from __future__ import annotations

import re

from mnemic.redact.search_primitives import AnyCase, digits, drawn, hexadecimal, pattern

_VERSION = re.compile(r"(?i)(?:\bv(?:er(?:sion)?)?|release|build|section|chapter)$")
_NOBODY = ("127.", "0.", "255.255.255.")


def _ipv4(address: str) -> bool:
    """Return True if the octets of `address`, each of up to three digits, are numbers up to 255 as one writes them."""
    if address.startswith(_NOBODY):
        return False
    return all(len(octet) < 3 or "100" <= octet <= "255" for octet in address.split("."))


def _somebody(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 12) : match.start()].rstrip(" .:")
    return not (before[-1:].isalpha() and _VERSION.search(before))


_LONG_GROUP = re.compile(r"[^:]{5}|:::")
_ANY_DIGIT = re.compile(r"\d")


def _ipv6(address: str) -> bool:
    colons, gaps = address.count(":"), address.count("::")
    if gaps > 1 or not (gaps or colons == 7):
        return False
    groups = colons - (address.startswith("::") + address.endswith("::"))
    if gaps and not 3 <= groups <= 7:
        return False
    return _LONG_GROUP.search(address) is None and _ANY_DIGIT.search(address) is not None


def _many_colons(text: str) -> bool:
    return "::" in text or text.count(":") >= 7


ips = (
    pattern(
        r"\d(?<![\w.].)\d{0,2}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?!\w|\.\d)",
        needs=drawn(b"f.f", of=hexadecimal),
        fits=_ipv4,
        accept=_somebody,
        spell=str.casefold,
    ),
    pattern(
        r"[0-9A-Fa-f:](?<![\w:.].)(?:(?<=:)|(?=[^:]{0,3}:))[0-9A-Fa-f:]{4,38}+(?<!(?<!:):)(?![\w:])",
        needs=_many_colons,
        fits=_ipv6,
        spell=str.casefold,
    ),
)
"""IP addresses except the universal ones: loopback, unspecified, broadcast."""


def _one_device(value: str) -> bool:
    return len(set(_plain(value))) > 1


_OTHERS = {code: None for code in range(128) if not chr(code).isalnum()}


def _plain(value: str) -> str:
    small = value.casefold()
    return small.translate(_OTHERS) if value.isascii() else re.sub(r"[^0-9a-z]", "", small)


macs = (
    pattern(
        r"[0-9A-Fa-f](?<![\w:\-].)[0-9A-Fa-f](?::(?:[0-9A-Fa-f]{2}:){4}|-(?:[0-9A-Fa-f]{2}-){4})[0-9A-Fa-f]{2}(?![\w:]|-\w)",
        needs=drawn(b"ff:ff:ff:ff:ff:ff", b"ff-ff-ff-ff-ff-ff", of=hexadecimal),
        fits=_one_device,
        spell=_plain,
    ),
    pattern(
        r"[0-9A-Fa-f](?<![\w.].)[0-9A-Fa-f]{3}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}(?![\w.])",
        needs=drawn(b"ffff.ffff.ffff", of=hexadecimal),
        fits=_one_device,
        spell=_plain,
    ),
    # After its name it is accepted even with a mistyped letter.
    pattern(
        AnyCase(r"(?<!\w)mac(?: ?address| ?id)?(?: is|:|=)?[ \t]{0,3}((?:[0-9a-z]{2}[:\-]){5}[0-9a-z]{2})(?!\w)"),
        needs=("mac",),
        fits=_one_device,
        spell=_plain,
        group=1,
    ),
)
"""Hardware addresses of 48 bits (IEEE 802), except those of no device."""

imeis = (
    pattern(
        # A single digit numbers one of several devices; one followed by others begins the IMEI.
        AnyCase(
            r"(?<!\w)(?:imei(?:sv)?|meid)(?:[ /]?\d(?!\d))?(?: number| no\.?| code)?(?: is|:|=|#| -)?[ \t]{0,3}"
            r"(\d(?:[ \-/]?\d){13,15})(?!\d)"
        ),
        needs=("imei", "meid"),
        fits=_one_device,
        spell=digits,
        group=1,
    ),
)
"""Numbers of mobile equipment (3GPP TS 23.003) next to a word that labels them: one check digit alone is too weak a
proof.
"""
