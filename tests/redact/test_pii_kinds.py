"""Finds of every kind, and their look-alikes."""

from __future__ import annotations

import pytest

from mnemic.redact.pii_kinds import DETECTORS
from mnemic.redact.pii_kinds.iban import LENGTH, ibans
from mnemic.redact.pii_kinds.payment_cards import luhn
from mnemic.redact.redactor import Redactor
from mnemic.redact.search_primitives import for_folded

SECRET = b"k" * 32


def entities(text: str) -> list[tuple[str, str]]:
    """Entity and covered text of every find."""
    return [(span.entity, text[span.start : span.end]) for span in Redactor().find(text)]


FOUND = [
    ("mail jane@acme.com.", "EMAIL", "jane@acme.com"),
    ("'jane@acme.com'", "EMAIL", "jane@acme.com"),
    ("o'brien@acme.com", "EMAIL", "o'brien@acme.com"),
    ("jane@müller.de", "EMAIL", "jane@müller.de"),
    ("ｊａｎｅ＠ａｃｍｅ．ｃｏｍ", "EMAIL", "ｊａｎｅ＠ａｃｍｅ．ｃｏｍ"),
    ("user@acme.com_backup", "EMAIL", "user@acme.com"),
    ('"jane doe"@acme.com', "EMAIL", '"jane doe"@acme.com'),
    ("first.last+tag@sub.domain.co.uk", "EMAIL", "first.last+tag@sub.domain.co.uk"),
    ("call 555-123-4567", "PHONE", "555-123-4567"),
    ("(555) 123-4567", "PHONE", "(555) 123-4567"),
    ("555.123.4567 x12", "PHONE", "555.123.4567 x12"),
    ("+1 555 123 4567", "PHONE", "+1 555 123 4567"),
    ("+44 20 7946 0958", "PHONE", "+44 20 7946 0958"),
    ("+49 (0)30 1234567", "PHONE", "+49 (0)30 1234567"),
    ("06 12 34 56 78", "PHONE", "06 12 34 56 78"),
    ("my phone number is 5551234567", "PHONE", "5551234567"),
    ("phone5551234567x", "PHONE", "5551234567"),
    ("555\u2011123\u20114567", "PHONE", "555\u2011123\u20114567"),
    ("٥٥٥-١٢٣-٤٥٦٧", "PHONE", "٥٥٥-١٢٣-٤٥٦٧"),
    ("it rings at (020)74960603", "PHONE", "(020)74960603"),
    ("you have my number: 4674924708", "PHONE", "4674924708"),
    ("contact 0364353265", "PHONE", "0364353265"),
    ("0364353265 is my new work number", "PHONE", "0364353265"),
    ("1 (204) 555-12-34", "PHONE", "1 (204) 555-12-34"),
    ("SSN 123-45-6789", "SSN", "123-45-6789"),
    ("123 45 6789", "SSN", "123 45 6789"),
    ("SSN123-45-6789", "SSN", "123-45-6789"),
    ("social security number: 123456789", "SSN", "123456789"),
    ("123–45–6789", "SSN", "123–45–6789"),
    ("4111 1111 1111 1111 is my card", "CARD", "4111 1111 1111 1111"),
    ("4111111111111111", "CARD", "4111111111111111"),
    ("3782 822463 10005", "CARD", "3782 822463 10005"),
    ("30569309025904", "CARD", "30569309025904"),
    ("30952309025902", "CARD", "30952309025902"),  # Diners; the next four: Maestro, RuPay, Troy, Humo
    ("0604 1234 5674", "CARD", "0604 1234 5674"),
    ("8172 3456 7890 1236", "CARD", "8172 3456 7890 1236"),
    ("9792 1234 5678 9018", "CARD", "9792 1234 5678 9018"),
    ("9860 1234 5678 9015", "CARD", "9860 1234 5678 9015"),
    ("5555.5555.5555.4444", "CARD", "5555.5555.5555.4444"),
    ("4111  1111  1111  1111", "CARD", "4111  1111  1111  1111"),
    ("2024 4111 1111 1111 1111 2025", "CARD", "4111 1111 1111 1111"),
    ("4111 1111 1111 1111x", "CARD", "4111 1111 1111 1111"),
    ("x4111 1111 1111 1111", "CARD", "4111 1111 1111 1111"),
    ("nr4111-1111-1111-1111exp 12/27", "CARD", "4111-1111-1111-1111"),
    ("2024 4111 1111 1111 1111x", "CARD", "4111 1111 1111 1111"),
    ("visa4111111111111111", "CARD", "4111111111111111"),
    ("4111111111111111exp 12/27", "CARD", "4111111111111111"),
    ("DE89370400440532013000x", "IBAN", "DE89370400440532013000"),
    ("IBANDE89 3704 0044 0532 0130 00x", "IBAN", "DE89 3704 0044 0532 0130 00"),
    ("DE89 3704 0044 0532 0130 00 is it", "IBAN", "DE89 3704 0044 0532 0130 00"),
    ("gb82west12345698765432", "IBAN", "gb82west12345698765432"),
    ("from 203.0.113.7:80", "IP", "203.0.113.7"),
    ("2001:db8::8a2e:370:7334", "IP", "2001:db8::8a2e:370:7334"),
    ("AKIAIOSFODNN7EXAMPLE", "SECRET", "AKIAIOSFODNN7EXAMPLE"),
    ("sk-proj-abcdefghijklmnop0123", "SECRET", "sk-proj-abcdefghijklmnop0123"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "SECRET", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "SECRET", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"),
    ("password=hunter2", "SECRET", "hunter2"),
    ("my password is hunter2", "SECRET", "hunter2"),
    ("api_key: 'abcd1234'", "SECRET", "abcd1234"),
    ("redis://u:p4ss@localhost", "SECRET", "p4ss"),
    ("Authorization: Bearer abcdefghijklmnop1234", "SECRET", "abcdefghijklmnop1234"),
    ("my PIN is 4921", "SECRET", "4921"),
    ("Phone:\n467 3395", "PHONE", "467 3395"),
    ("Desk: 5403926876", "PHONE", "5403926876"),
    ("nobody answers at 71-33-52-22", "PHONE", "71-33-52-22"),
    ("+1-903-140-4508x769", "PHONE", "+1-903-140-4508x769"),
    ("(08) 8747 6301", "PHONE", "(08) 8747 6301"),
    ("699 956 915", "PHONE", "699 956 915"),
    ("my new number is 5403926876", "PHONE", "5403926876"),
    ("001-555-123-4567x012", "PHONE", "001-555-123-4567x012"),
    ("(11) 98765-4321", "PHONE", "(11) 98765-4321"),
    ("8 (495) 123-45-67", "PHONE", "8 (495) 123-45-67"),
    ("8-495-123-45-67", "PHONE", "8-495-123-45-67"),
    ("You can reach Ana, 0612345678, after six", "PHONE", "0612345678"),
    ("call +999 1234 5678", "PHONE", "+999 1234 5678"),
    ("Ana Ruiz at 555 0123-Fax", "PHONE", "555 0123"),
    ("she left 555 0198 (home)", "PHONE", "555 0198"),
    ("Ana has 41-62-97-41 these days", "PHONE", "41-62-97-41"),
    ("In Sofia 02 123 456 is hers", "PHONE", "02 123 456"),
    ("00:1A:2B:3C:4D:5E", "MAC", "00:1A:2B:3C:4D:5E"),
    ("001a.2233.4455", "MAC", "001a.2233.4455"),
    ("MAC address is 00:1A:4W:7D:4C:4E", "MAC", "00:1A:4W:7D:4C:4E"),
    ("IMEI: 49-015420-323751-8", "IMEI", "49-015420-323751-8"),
    ("IMEI 490154203237518", "IMEI", "490154203237518"),
    ("imei 1 490154203237518", "IMEI", "490154203237518"),
    ("IMEI/2: 490154203237518", "IMEI", "490154203237518"),
    ("a" * 64 + "@acme.com", "EMAIL", "a" * 64 + "@acme.com"),
    ("b" + "a" * 64 + "@acme.com", "EMAIL", "a" * 64 + "@acme.com"),  # as much as a local part may have
    ("see .-jane@acme.com", "EMAIL", "jane@acme.com"),
    ("Jane [AT] ACME.com", "EMAIL", "Jane [AT] ACME.com"),
    ("4222222222222", "CARD", "4222222222222"),
    ("2024 4111 1111 1111 1111", "CARD", "4111 1111 1111 1111"),
    ("::1:2:3:4:5:6:7", "IP", "::1:2:3:4:5:6:7"),
    ("1:2:3:4:5:6:7::", "IP", "1:2:3:4:5:6:7::"),
    ("1:2:3:4:5:6:7:8", "IP", "1:2:3:4:5:6:7:8"),
    ("2001:db8:1::", "IP", "2001:db8:1::"),
    ("Ana Ruiz\n555 0198\nLisbon", "PHONE", "555 0198"),
    ("order #12 call 5403926876", "PHONE", "5403926876"),
    ("0612345678, is my office line", "PHONE", "0612345678"),
    ("88 77 66 phone 555 444 333", "PHONE", "555 444 333"),
    ("my password is 000000", "SECRET", "000000"),
    ("the access code is 4711", "SECRET", "4711"),
    ("token is a1b2c3.", "SECRET", "a1b2c3"),
    ("session cookie is a1b2c3d4e5", "SECRET", "a1b2c3d4e5"),
    ("password=v4lue.", "SECRET", "v4lue."),
    ("jane (at) acme (dot) com", "EMAIL", "jane (at) acme (dot) com"),
    ("jane\u200b@ac\u200dme.com", "EMAIL", "jane\u200b@ac\u200dme.com"),
    ("4\u200b111 1111 1111 1111", "CARD", "4\u200b111 1111 1111 1111"),
    ("4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "CARD", "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"),
    ("p\u00adassword=hunter2", "SECRET", "hunter2"),
    ("the security code is 456789, from the mail", "SECRET", "456789"),
    ("The 2FA code is 458749.", "SECRET", "458749"),
    ("123456 is your verification code", "SECRET", "123456"),
    ("The firmware key is FIRM-ABCD-1234", "SECRET", "FIRM-ABCD-1234"),
    ("log in with password Hunter22", "SECRET", "Hunter22"),
    ("AccountKey=abcdEFGH0123+/==", "SECRET", "abcdEFGH0123+/=="),
    ("https://x.test/cb?access_token=abc123def456", "SECRET", "abc123def456"),
    ("curl -u ada:s3cr3t https://x.test", "SECRET", "s3cr3t"),
    ("\U0001f150 AKIAIOSFODNN7EXAMPLE", "SECRET", "AKIAIOSFODNN7EXAMPLE"),  # a capital without a small letter
    ("\u0130zmir: my PASSWORD is x9y8z7w6", "SECRET", "x9y8z7w6"),
    ("MI CONTRASEÑA ES HUNTER2", "SECRET", "HUNTER2"),
    ("МОЙ ПАРОЛЬ HUNTER2", "SECRET", "HUNTER2"),
    ("whsec_abcdefghijklmnop0123", "SECRET", "whsec_abcdefghijklmnop0123"),
    ("GOCSPX-abcdefghijklmnopqrst", "SECRET", "GOCSPX-abcdefghijklmnopqrst"),
    ("123456789:AAabcdefghijklmnopqrstuvwxyz0123456", "SECRET", "123456789:AAabcdefghijklmnopqrstuvwxyz0123456"),
    ("https://hooks.slack.com/services/T000/B000/abcdefghijklmnop", "SECRET", "T000/B000/abcdefghijklmnop"),
    ("to 10.100.255.7", "IP", "10.100.255.7"),
    ("00:11:00:11:00:11", "MAC", "00:11:00:11:00:11"),
    ("redis://:p4ss@localhost", "SECRET", "p4ss"),
    ("pwd=hunter2", "SECRET", "hunter2"),
    ("secret=abcd1234", "SECRET", "abcd1234"),
    ("credentials: abcd1234", "SECRET", "abcd1234"),
    ("kennwort: geheim1", "SECRET", "geheim1"),
    ("contraseña: hola1234", "SECRET", "hola1234"),
    ("password: ****, token: v4lue", "SECRET", "v4lue"),
    ("access code: 4711", "SECRET", "4711"),
    ("699 956 915 x1234", "PHONE", "699 956 915 x1234"),
    ("the password for the wifi is hunter2", "SECRET", "hunter2"),
    ("the password of my old mail account was hunter2", "SECRET", "hunter2"),
    ("password for the wifi: solete", "SECRET", "solete"),
    ("The wifi pass is hunter2", "SECRET", "hunter2"),
    ("user: ana pass: hunter2", "SECRET", "hunter2"),
    ("my credentials are ana/hunter2", "SECRET", "ana/hunter2"),
    ("the alarm code is 4821", "SECRET", "4821"),
    ("door code 4821#", "SECRET", "4821#"),
    ("the code for the gate is 4821", "SECRET", "4821"),
    ("the safe combination is 12-34-56", "SECRET", "12-34-56"),
    ("my passcode's 4821", "SECRET", "4821"),
    ("api_key: abcdefghij", "SECRET", "abcdefghij"),
    ("the wifi pass is a1b2c3.", "SECRET", "a1b2c3"),
    ("the wifi pass is 4821.", "SECRET", "4821"),
    ("the wifi pass: ab12cd", "SECRET", "ab12cd"),
    ("door code 4821.", "SECRET", "4821"),
    ("door code 4821-77*", "SECRET", "4821-77*"),
    ("password ab12cd", "SECRET", "ab12cd"),
    ("password for the old laptop hunter22", "SECRET", "hunter22"),
    ("password - hunter2", "SECRET", "hunter2"),
    ("the password is 1...", "SECRET", "1"),
    ("mi clave es 1...", "SECRET", "1"),
    ("the test passcode is 000111", "SECRET", "000111"),
    (
        "seed phrase: abandon ability able about above absent absorb abstract absurd abuse access accident",
        "SECRET",
        "abandon ability able about above absent absorb abstract absurd abuse access accident",
    ),
]

BENIGN = [
    "the user likes tea",
    "user@example.c|m",
    "at 10:30:45 on 2024-01-15",
    "order 1234567890 of epoch 1700000000",
    "ISBN 0306406152",
    "call me on 2024-01-15 about 01-02-2024",
    "555.123.4567.8901",
    "411-111-1111-111-1111",
    "666-12-3456 and 900-12-3456 and 123-00-4567 and 123-45-0000",
    "4111 1111 1111 1112",
    "build 2024 0101 1200 0000",
    "12345678-1234-1234-1234-123456789012",
    "DE89 3704 0044 0532 0130 01",
    "version 1.2.3.4 on 127.0.0.1",
    "256.1.1.1 and 1.2.3.4.5",
    "std::vector and a::b and 12:30",
    "the password is required",
    "a token of thanks",
    "follow @jane and see a@b",
    "skip the ask-me-anything session",
    "the test password is 000000, for demo?",
    "the test card is 0000 0000 0000 0000, exp 00/00, CVV 000",
    "the test MAC is 00:00:00:00:00:00",
    "password = ${DB_PASSWORD}",
    "password: ********",
    "token = None",
    "a basic understanding of things",
    "confirmation code of the booking",
    "sizes 36 38 40 42",
    "it ran 10-20-30-40",
    "in 1998 2002 2006",
    "12 345 678 people",
    "it cost 250 100 300 euros",
    "set 21-15 18-21 21-19",
    "serial 123-456-7890-12",
    "as told in (12) 2019-2020",
    "I'll call about invoice 123456789",
    "reach step 123456789 of the phone order 9876543210",
    "calls took 123456789 bytes",
    "meet at (the) acme hall",
    "a delta of +999 1234 5678",
    "the courier has 98765 43210 in his van",
    'say "@acme.com',
    "a4111111111111111b and 4111111111111111b9",  # letters at both ends, or digits behind them: a name
    "my licence is U4111111111111111",
    "x4111 1111 1111 1112",
    "deadbeef12DE89370400440532013000",
    "DE89370400440532013000b9",
    "DE89 3704 0044 0532 0130 01x",
    "::8a2e:370",
    "1:2:3:4:5:6:7",
    "a1::b2::c3:4",
    "it has 467 3395\nof them",
    "order # 0612345678 call me",
    "call me: account 0612345678",
    "call me: id=0612345678",
    "0612345678 call",
    "1 234 567 call",
    "access code: required",
    "password hunter",
    "password is !!!!!!",
    "user:pass://x",
    "mobile 2024-01-15",
    "call 0000000",
    "1:2:3:4:5::6:7:8",
    "abcd::beef:cafe:feed",
    "version: 1.2.3.4",
    "runs on version 1.2.3.4",
    "a v 1.2.3.4",
    "access code: pending",
    "the password is awaited",
    "the token a1b2c3d4 expired",
    "password: ****.",
    "password: xxxx",
    "the test password is 000000!",
    "the password for the wifi is too long",
    "the password of the day: none",
    "a boarding pass is needed at gate 12",
    "I got a pass: 70 of 100",
    "the pass is closed until 2025",
    "the code for the new page is on main",
    "area code 4821",
    "the dress code is casual",
    "the source code for the parser is 4821 lines",
    "the code for this bug is 404",
    "a combination is 12-34-56",
    "recovery phrase: written on paper at home",
    "a token of thanks: flowers",
    "the wifi pass: ab1cd",
    "the wifi pass: abcdefgh",
    "password ab1cd",
    "password 2024.: it was",
    "door code A4821",
    "the dummy door code is 1111.",
    "password: xxxx.!",
]


# No ids of our own: pytest escapes such once more in each collection, and a mutation run asks for them a second time.
@pytest.mark.parametrize(("text", "entity", "covered"), FOUND)
def test_found(text: str, entity: str, covered: str) -> None:
    assert entities(text) == [(entity, covered)]


@pytest.mark.parametrize("text", BENIGN)
def test_benign_texts_stay(text: str) -> None:
    assert entities(text) == []


def test_a_private_key_goes_as_one_block() -> None:
    pem = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nMIIabc+/=\n-----END RSA PRIVATE KEY-----"
    assert entities(f"here: {pem} done") == [("SECRET", pem)]
    assert entities(pem[:60]) == [("SECRET", pem[:60])]


def test_the_longest_match_names_what_overlaps() -> None:
    assert entities("DE89370400440532013000") == [("IBAN", "DE89370400440532013000")]
    assert entities("postgres://app:s3cret@db.example.com/x") == [("EMAIL", "s3cret@db.example.com")]


def test_spellings_of_one_thing_are_one_value() -> None:
    found = {detector.entity: detector for detector in DETECTORS}
    assert {one.value for one in found["CARD"].find("4111 1111 1111 1111, 4111-1111-1111-1111")} == {"4111111111111111"}
    assert {one.value for one in found["EMAIL"].find("Jane@ACME.com jane@acme.com")} == {"jane@acme.com"}
    assert {one.value for one in found["PHONE"].find("555-123-4567 (555) 123-4567")} == {"5551234567"}
    assert {one.value for one in found["EMAIL"].find("jane@acme.com Jane (at) ACME [dot] com")} == {"jane@acme.com"}
    assert {one.value for one in found["MAC"].find("00:1a:2b:3c:4d:5e 001A.2B3C.4D5E")} == {"001a2b3c4d5e"}
    assert {one.value for one in found["IMEI"].find("IMEI 49-015420-323751-8 IMEI:490154203237518")} == {
        "490154203237518"
    }
    assert {one.value for one in found["SSN"].find("123-45-6789 or SSN 123456789")} == {"123456789"}
    assert {one.value for one in found["IP"].find("2001:DB8:1:: 2001:db8:1::")} == {"2001:db8:1::"}
    assert {one.value for one in found["IBAN"].find("no9386011117947 NO93 8601 1117 947")} == {"NO9386011117947"}


def test_several_of_a_kind_are_found_each() -> None:
    assert entities("4111 1111 1111 1111 5555 5555 5555 4444") == [
        ("CARD", "4111 1111 1111 1111"),
        ("CARD", "5555 5555 5555 4444"),
    ]
    assert entities("pwd=abcd, the password is required, token: v4lue") == [("SECRET", "abcd"), ("SECRET", "v4lue")]
    assert entities("XX11 2222 DE89370400440532013000 NO93 8601 1117 947") == [
        ("IBAN", "DE89370400440532013000"),
        ("IBAN", "NO93 8601 1117 947"),
    ]


@pytest.mark.parametrize(("digits", "holds"), [("4111111111111111", True), ("4111111111111112", False), ("0", True)])
def test_luhn(digits: str, holds: bool) -> None:
    assert luhn(digits) is holds


def test_ibans_know_their_country() -> None:
    assert len(LENGTH) > 75
    assert [value for _, _, value in ibans("NO93 8601 1117 947 XX93 8601 1117 947")] == ["NO9386011117947"]


@pytest.mark.parametrize(
    ("expression", "plain"),
    [
        (r"\d{2}", "[0-9]{2}"),
        (r"[\d.\-]\d", r"[0-9.\-][0-9]"),
        (r"[^\W\d_][(\[]\d[)\]]", r"[^\W0-9_][(\[][0-9][)\]]"),
        (r"\\d\[\d", r"\\d\[[0-9]"),
    ],
)
def test_in_folded_texts_a_digit_is_one_of_ten(expression: str, plain: str) -> None:
    assert for_folded(expression) == plain
