"""Redaction of a text: markers that prove themselves, idempotence, actions, overlaps, normalisation."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mnemic.redact
from mnemic.redact import normalised_text
from mnemic.redact import redact as redact_text
from mnemic.redact.normalised_text import fold
from mnemic.redact.pii_kinds import detectors
from mnemic.redact.redactor import Redactor
from mnemic.redact.replacement import MARKER, marker
from mnemic.redact.search_primitives import Finder
from mnemic.redact.types import PLACEHOLDER, Action, Found, InvalidRules, Span, Unredactable

SECRET, OTHER = b"k" * 32, b"o" * 32
REDACTOR = Redactor()

PIECES = "jane@acme.com 555-123-4567 123-45-6789 password= hunter2 10.9.8.7 +1 [EMAIL# ] # - . @ x é"
LONGER = ["[EMAIL#a1b2c3d4e5f6]", "4111 1111 1111 1111", "00 00 ", "DE89370400440532013000", "token: ", "\ufdd0", " "]
pieces = st.sampled_from(PIECES.split() + LONGER)
texts = st.lists(pieces | st.text(max_size=4), max_size=12).map("".join)


def redact(text: str, secret: bytes = SECRET) -> str:
    return REDACTOR.redact(text, secret).text


@pytest.mark.parametrize("identifier", ["01a208fe-9388-7016-8331-a3ae2a036a2f", "01A208FE-9388-7016-8331-555123456789"])
def test_digits_of_an_identifier_are_no_telephone_number(identifier: str) -> None:
    assert redact(f"see {identifier}.") == f"see {identifier}."
    assert "[PHONE#" in redact(f"{identifier} or call +1 212 555 0187"), "only the identifier is spared"
    assert "[SECRET#" in redact(f"the password is {identifier}"), "what a name announces is not spared"


@given(texts)
def test_twice_is_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(texts)
def test_every_marker_left_is_genuine(text: str) -> None:
    for match in MARKER.finditer(redact(text)):
        assert match.group() in redact(match.group())


def test_people_stay_distinct_and_themselves() -> None:
    one, two, again = (redact(f"write to {name}@acme.com") for name in ("ann", "bob", "ANN"))
    assert one != two
    assert one == again
    assert re.fullmatch(r"write to \[EMAIL#[0-9a-f]{12}\]", one)


def test_a_pseudonym_belongs_to_one_tenant() -> None:
    assert redact("jane@acme.com") != redact("jane@acme.com", OTHER)


@pytest.mark.parametrize("typed", ["[EMAIL#a1b2]", "[SSN#0123456789ab]", "[PERSON#zz]"])
def test_a_typed_look_alike_is_no_marker(typed: str) -> None:
    assert redact(f"see {typed}") == f"see ({typed[1:-1]})"


def test_a_marker_of_another_tenant_is_a_look_alike() -> None:
    foreign = marker("EMAIL", "jane@acme.com", OTHER)
    assert redact(foreign) == f"({foreign[1:-1]})"


def test_a_bare_name_is_left_alone() -> None:
    assert redact("field [SSN] of the form") == "field [SSN] of the form"


def test_offsets_survive_folding() -> None:
    assert re.fullmatch(r"ﬁrst \[EMAIL#\w+\] ﬂag", redact("ﬁrst ｊａｎｅ＠acme.com ﬂag"))


def test_numbers_next_to_each_other_leave_no_rest() -> None:
    assert not re.search(r"\d{3}", re.sub(MARKER, "", redact("4111 1111 1111 1111 555-123-4567, 123-45-6789 10.9.8.7")))


def test_what_a_replacement_uncovers_is_found_too() -> None:
    once = redact("x@acme.com555-123-4567")
    assert [match.group(1) for match in MARKER.finditer(once)] == ["EMAIL", "PHONE"]


ADVERSARIAL = [
    "a@",
    "@",
    "1 ",
    "1",
    "444 ",
    "4444 ",
    "DE89 ",
    "a:b::1 ",
    "10.0.0.1 ",
    "password ",
    "eyJaaaaaa.",
    "-",
    "://",
]
ADVERSARIAL += [
    "call ",
    "+1",
    "00 ",
    "555 123 ",
    "sk-",
    "[EMAIL#a1b2] ",
    "[A",
    "x@x.com ",
    "token is ",
    "-----BEGIN PRIVATE KEY----- ",
]


@pytest.mark.parametrize("unit", ADVERSARIAL)
def test_long_texts_end(unit: str) -> None:
    text = (unit * 65_536)[:65_536]
    once = redact(text)
    assert redact(once) == once


def test_policy_per_entity() -> None:
    redactor = Redactor(actions={"EMAIL": Action.ALLOW, "CARD": Action.BLOCK})
    done = redactor.redact("jane@acme.com pays with 4111 1111 1111 1111 from 10.9.8.7", SECRET)
    assert done.text.startswith("jane@acme.com pays")
    assert (done.replaced, done.blocked) == (("IP",), ("CARD",))


# -- the table ---------------------------------------------------------------------------------------------------------

SAMPLES = {
    "SECRET": "AKIAIOSFODNN7EXAMPLE",
    "IBAN": "DE89370400440532013000",
    "IMEI": "IMEI 490154203237518",
    "CARD": "4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
    "SSN": "123-45-6789",
    "NATIONAL_ID": "12345678Z",
    "PASSPORT": "passport number X1234567",
    "DRIVING_LICENCE": "driver's license F162823540116",
    "BANK_ACCOUNT": "sort code 12-34-56",
    "VIN": "VIN 1HGCM82633A004352",
    "WALLET": "0x52908400098527886E0F7030069857D2E4169EE7",
    "EMAIL": "jane (at) acme (dot) com",
    "PHONE": "+44 20 7946 0958",
    "MAC": "00:1A:2B:3C:4D:5E",
    "IP": "203.0.113.7",
}


def test_a_table_made_anew_finds_each_kind() -> None:
    assert [one.entity for one in detectors()] == list(SAMPLES)
    fresh = Redactor()
    assert {entity: {span.entity for span in fresh.find(text)} for entity, text in SAMPLES.items()} == {
        entity: {entity} for entity in SAMPLES
    }
    assert [span.entity for span in fresh.find("jane@acme.com 4111111111111111 SSN 123456789")] == [
        "EMAIL",
        "CARD",
        "SSN",
    ]


# -- overlaps ----------------------------------------------------------------------------------------------------------


def spans(*finds: tuple[str, int, int], text: str = "abcdefghijkl") -> list[Span]:
    """Return the text redacted with these finds, each of a separate detector."""

    def finder(entity: str, start: int, end: int) -> Finder:
        return Finder(entity, (lambda _: iter([Found(start, end, f"{entity} itself")]),))

    return Redactor([finder(*one) for one in finds]).find(text)


@pytest.mark.parametrize(
    ("finds", "made"),
    [
        ([("A", 0, 4), ("B", 4, 8)], [(0, 4, "A", "A itself"), (4, 8, "B", "B itself")]),
        ([("B", 6, 8), ("A", 0, 4)], [(0, 4, "A", "A itself"), (6, 8, "B", "B itself")]),
        ([("A", 0, 4), ("B", 2, 8)], [(0, 8, "B", "abcdefgh")]),
        ([("A", 0, 8), ("B", 2, 4)], [(0, 8, "A", "A itself")]),
        ([("A", 0, 4), ("B", 2, 6)], [(0, 6, "A", "abcdef")]),
        ([("A", 0, 4), ("B", 0, 8)], [(0, 8, "B", "B itself")]),
        ([("B", 0, 8), ("A", 0, 4)], [(0, 8, "B", "B itself")]),
        ([("A", 0, 4), ("A", 0, 4)], [(0, 4, "A", "A itself")]),
        ([("A", 0, 4), ("B", 0, 4)], [(0, 4, "A", "A itself")]),
        ([("A", 0, 3), ("B", 2, 6), ("C", 5, 10)], [(0, 10, "C", "abcdefghij")]),
        ([("A", 0, 4), ("A", 0, 4), ("B", 3, 9), ("C", 10, 11)], [(0, 9, "B", "abcdefghi"), (10, 11, "C", "C itself")]),
        ([("A", 3, 3)], []),
    ],
)
def test_what_overlaps_is_one_under_the_name_of_the_longest(finds: Any, made: Any) -> None:
    assert [tuple(span) for span in spans(*finds)] == made


def test_further_detectors_and_actions_are_taken_and_a_wrong_one_is_refused() -> None:
    cats = Finder("CAT", (lambda text: (Found(at, at + 3, "cat") for at in [text.find("Tom")] if at >= 0),))
    redactor = Redactor(actions={"CAT": "block", "EMAIL": "allow"}, further=[cats], regions=["IN"])
    done = redactor.redact("Tom writes to jane@acme.com from 98765 43210", SECRET)
    assert (done.blocked, done.replaced, done.kinds) == (("CAT",), ("PHONE",), {"CAT", "PHONE"})
    assert "jane@acme.com" in done.text
    with pytest.raises(InvalidRules) as wrong:
        Redactor(actions={"DOG": "block"})
    assert wrong.value.reason == "redaction.entities"
    assert "CARD, DRIVING_LICENCE, EMAIL" in wrong.value.hint, "it says what is found here"
    assert Redactor(actions={"EMAIL": "tokenise"}).tokenises
    assert not redactor.tokenises


def test_the_places_are_those_of_the_text_as_it_was_given() -> None:
    ann = marker("EMAIL", "ann@acme.com", SECRET)
    text = f"{ann} and x@acme.com555-123-4567, ﬁrst ｊａｎｅ＠acme.com, [EMAIL#zz] 10.9.8.7"
    done = REDACTOR.redact(text, SECRET)
    assert [(span.entity, text[span.start : span.end]) for span in done.spans] == [
        ("EMAIL", "x@acme.com"),
        ("PHONE", "555-123-4567"),
        ("EMAIL", "ｊａｎｅ＠acme.com"),
        ("IP", "10.9.8.7"),
    ]
    assert (done.spans[0].value, sorted(done.replaced)) == ("x@acme.com", ["EMAIL", "EMAIL", "IP", "PHONE"])


@given(texts)
def test_outside_the_places_a_text_stays_as_it_was(text: str) -> None:
    text = text.replace("[", "").replace(PLACEHOLDER, "")
    done = REDACTOR.redact(text, SECRET)
    kept, at = [], 0
    for span in done.spans:
        kept.append(text[at : span.start])
        at = span.end
    assert MARKER.split(done.text)[::3] == [*kept, text[at:]]


def test_one_function_does_it_all() -> None:
    once, again = redact_text("mail jane@acme.com"), redact_text("to JANE@acme.com")
    assert once.kinds == {"EMAIL"}
    assert MARKER.findall(once.text) == MARKER.findall(again.text), "one secret for a process"
    assert redact_text("mail jane@acme.com", secret=SECRET).text == redact("mail jane@acme.com")
    assert redact_text("mail jane@acme.com", actions={"EMAIL": "allow"}).spans == ()
    assert redact_text("ring 98765 43210 now", regions=["IN"]).kinds == {"PHONE"}
    cats = Finder("CAT", (lambda text: [Found(0, 3, "cat")] if text.startswith("Tom") else [],))
    assert redact_text("Tom sleeps", further=[cats]).replaced == ("CAT",)


def test_every_public_name_loads_and_another_is_refused() -> None:
    assert all(getattr(mnemic.redact, name) for name in mnemic.redact.__all__)
    assert set(mnemic.redact.__all__) <= set(dir(mnemic.redact))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        mnemic.redact.nothing  # noqa: B018


def peeling(count: int) -> tuple[Redactor, str]:
    """A text of which each pass finds one more character."""

    def first(text: str) -> Any:
        return (Found(at, at + 1, character) for at, character in list(enumerate(text)) if character != PLACEHOLDER)

    return Redactor([Finder("PEEL", (lambda text: iter(list(first(text))[:1]),))]), "x" * count


def test_a_text_that_uncovers_ever_more_is_refused() -> None:
    redactor, text = peeling(4)
    done = redactor.redact(text, SECRET)
    assert (done.replaced, MARKER.sub("", done.text)) == (("PEEL",) * 4, "")
    redactor, text = peeling(5)
    with pytest.raises(Unredactable) as refused:
        redactor.redact(text, SECRET)
    assert refused.value.reason == "redaction"


def test_markers_keep_their_places_among_new_finds() -> None:
    ann, bob = (marker("EMAIL", f"{name}@acme.com", SECRET) for name in ("ann", "bob"))
    text = f"{ann} then bob@acme.com, {bob}{ann} and ann@acme.com{PLACEHOLDER}"
    assert redact(text) == f"{ann} then {bob}, {bob}{ann} and {ann}\ufffd"


def test_what_policy_keeps_sealed_is_kept_as_it_was_first_written() -> None:
    redactor = Redactor(actions={"EMAIL": Action.TOKENISE})
    done = redactor.redact("Jane@ACME.com or jane@acme.com, not 4111111111111111", SECRET)
    assert dict(done.tokens) == {marker("EMAIL", "jane@acme.com", SECRET): "Jane@ACME.com"}
    assert done.replaced == ("EMAIL", "EMAIL", "CARD")


# -- how a text is read ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "read", "offsets"),
    [
        ("plain", "plain", None),
        (f"plain{PLACEHOLDER}", f"plain{PLACEHOLDER}", None),
        ("\u1680\u00a0x", "  x", None),
        ("\u2212\u2013\u2011", "---", None),
        ("\u0664\u096b\uff16", "456", None),
        ("a\u00adb", "ab", [0, 2, 3]),
        ("a\ufe0f\u3164b", "ab", [0, 3, 4]),
        ("\ufb01x", "fix", [0, 0, 1, 2]),
        ("\uff21", "A", None),
        ("\u53f71", "\u53f7 1", [0, 1, 1, 2]),
        ("a\u53f7b", "a \u53f7 b", [0, 1, 1, 2, 2, 3]),
        ("\uff11\u00ad\u53f7", "1 \u53f7", [0, 2, 2, 3]),
        ("\u53f7\u53f7", "\u53f7\u53f7", None),
    ],
)
def test_what_a_detector_reads(
    text: str, read: str, offsets: list[int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = type(normalised_text._PLAIN)()
    monkeypatch.setattr(normalised_text, "_PLAIN", table)  # computed again
    assert fold(text) == (read, offsets)


PIECES = """my our the password passphrase secret token key code pin senha contrasena clave de acceso seed recovery
    phrase words private is are es as - -u --user bearer basic ssn social security mac imei iban door safe alarm
    hunter hunter! hunter!x correct horse battery staple apple banana cherry grape lemon mango olive
    peach plum pear fig date
    sk-abcdefghijklmnopqrstuv xoxb-abcdefghij ghp_abcdefghijklmnopqrstuvwxyz eyJabcdef.ghijkl AKIAABCDEFGHIJKLMNOP
    dead.beef.cafe aa-bb-cc-dd-ee-ff aa:bb:cc:dd:ee:ff fe80::1 ana@example.org ana (at) [at] <at> example dot org
    4111 1111 +49 30 555 https://ana:pw@host ?token=abcdefgh = : := ! !! . , ; ' " ( ) [ ] ~ # \u00e9 \u200b
    -----BEGIN PRIVATE KEY-----""".split()


@given(st.lists(st.sampled_from([*PIECES, "\n", "\t", ""]), max_size=30), st.sampled_from(["", " "]))
def test_a_glance_passes_only_texts_that_hold_nothing(pieces: list[str], gap: str) -> None:
    text = gap.join(pieces)

    assert Redactor().redact(text, b"secret") == Redactor(detectors()).redact(text, b"secret")


def test_a_plain_text_needs_no_detector() -> None:
    redactor = Redactor()

    redactor.redact("The printer on the third floor is out of toner.", b"secret")
    assert "_finds" not in vars(redactor)

    assert redactor.redact("Write to ana@example.org", b"secret").replaced == ("EMAIL",)
    assert "_finds" in vars(redactor)


def test_detectors_that_are_given_see_every_text() -> None:
    plain = "The printer is out of toner."
    printer = Finder("DEVICE", (lambda text: [Found(4, 11, "printer")] if text == plain else [],))

    assert Redactor(further=[printer]).redact(plain, b"secret").replaced == ("DEVICE",)
    assert Redactor([printer]).redact(plain, b"secret").replaced == ("DEVICE",)
