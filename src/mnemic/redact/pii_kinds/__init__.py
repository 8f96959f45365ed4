"""Kinds of personal data and secrets, as one table of detectors; each file of this folder has the searches of a kind.

To add a kind, write its file and add its line to `detectors`, or to `OPTIONAL` if callers often want to store such
finds. If a find may consist of letters and spaces alone, add a sign of it to `_SUSPECT` of `redactor`: texts without
signs are not searched.

Every search is linear in the length of the text: quantifiers are bounded or possessive. Finds are validated where a
rule exists: Luhn for cards (ISO/IEC 7812-1), mod 97 for IBANs (ISO 13616), issued areas for US social security numbers,
and the check digits of national numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from mnemic.redact.pii_kinds import documents_and_accounts, national_ids, stdnum_ids
from mnemic.redact.pii_kinds.credentials import secrets
from mnemic.redact.pii_kinds.emails import emails, hidden_emails, spelled_emails
from mnemic.redact.pii_kinds.national_ids import ssns
from mnemic.redact.pii_kinds.network import imeis, ips, macs
from mnemic.redact.pii_kinds.opt_in_kinds import OPTIONAL
from mnemic.redact.pii_kinds.payment_cards import cards, ibans
from mnemic.redact.pii_kinds.phones import Phones
from mnemic.redact.search_primitives import Finder, found, require_long_number
from mnemic.redact.types import Detector, Found


def _iban(text: str) -> Iterator[Found]:
    return map(found, ibans(text))


_NATIONAL_IDS = (
    require_long_number((*national_ids.numbers, *stdnum_ids.formed, stdnum_ids.find_named)),
    *national_ids.lettered,
    *documents_and_accounts.medicare,
)


def detectors(regions: Sequence[str] = (), optional: Collection[str] = ()) -> tuple[Detector, ...]:
    """Return the table; telephone numbers without a country code are those of `regions`, and `optional` names the kinds
    of `OPTIONAL` to look for too. If two matches of one length compete, the earlier line wins.

    Raises InvalidRules (`redaction.regions`).
    """
    return (
        Finder("SECRET", secrets),
        Finder("IBAN", (_iban,)),
        Finder("IMEI", imeis),
        Finder("CARD", cards),
        Finder("SSN", (require_long_number(ssns),)),
        Finder("NATIONAL_ID", _NATIONAL_IDS),
        Finder("PASSPORT", documents_and_accounts.passports),
        Finder("DRIVING_LICENCE", documents_and_accounts.licences),
        Finder("BANK_ACCOUNT", documents_and_accounts.accounts),
        Finder("VIN", documents_and_accounts.vehicles),
        Finder("WALLET", documents_and_accounts.wallets),
        Finder("EMAIL", (emails, hidden_emails, spelled_emails)),
        Finder("PHONE", (Phones(regions),)),
        Finder("MAC", macs),
        Finder("IP", ips),
        *(OPTIONAL[kind] for kind in sorted(optional)),
    )


DETECTORS = detectors()
