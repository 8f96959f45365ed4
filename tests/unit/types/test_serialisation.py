"""Every value that travels: to JSON and back, copied, pickled."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mnemic
from mnemic import types
from mnemic.engine import lineage
from mnemic.errors import InvalidInput
from mnemic.maintenance import (
    consolidate,
    erase,
    expiry_job,
    health,
    key_rotation,
    reembed,
    reports,
    reveal,
    review,
    undo,
)
from mnemic.types import (
    Candidate,
    Fragment,
    Hit,
    Kind,
    Level,
    Memory,
    Message,
    Node,
    Origin,
    Rank,
    Relation,
    Scope,
    SearchResult,
    Source,
    Trust,
    Where,
    WriteReceipt,
    from_json,
    to_json,
)
from mnemic.types.json_forms import Serialisable
from mnemic.types.trace import RunReport, UseAudit
from mnemic.types.values import duration_of

WITHOUT_JSON = {"Deadline", "Detector", "FrozenDict", "Prompt", "Serialisable"}
"""A clock, a protocol, a call that names who is told its answer, and what values are made with."""

REPORTS = [
    RunReport,
    UseAudit,
    reports.AuditReport,
    reports.ReviewOutcome,
    reports.MaintenanceReport,
    reports.Revocation,
    consolidate.ConsolidationReport,
    erase.ErasureReceipt,
    expiry_job.ExpiryReport,
    health.Health,
    lineage.Lineage,
    lineage.Use,
    reembed.ReembedResult,
    review.PendingReview,
    key_rotation.Rotation,
    undo.UndoReceipt,
    reveal.RevealResult,
]


def _travels(value: object) -> bool:
    if not isinstance(value, type) or value.__name__ in WITHOUT_JSON:
        return False
    return dataclasses.is_dataclass(value) or hasattr(value, "_fields")


VALUES: list[type] = [
    *(one for name in types.__all__ if _travels(one := getattr(types, name))),
    mnemic.Budget,
    mnemic.Grant,
    mnemic.KeyRule,
    mnemic.Policy,
    *REPORTS,
]

IDENTIFIERS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_.:@+-]{0,9}", fullmatch=True)
TEXTS = st.text(max_size=8)
TIMES = st.integers(-(10**15), 10**16).map(
    lambda micros: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
)
DURATIONS = st.timedeltas()
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
SCOPES = st.builds(Scope, tenant=IDENTIFIERS, level=st.sampled_from(Level), owner=IDENTIFIERS)
NODES = st.builds(
    Node,
    node=st.sampled_from(["a", "b"]),
    name=st.just("Ünï"),
    label=st.just("person"),
    aliases=st.lists(st.sampled_from(["x", "y"]), max_size=2).map(tuple),
    last_seen_at=st.none() | TIMES,
)
RELATIONS = st.builds(
    Relation,
    source=st.just("a"),
    relation=st.just("knows"),
    target=st.just("a"),
    valid_from=st.none() | TIMES,
    memory_id=IDENTIFIERS,
)
GIVEN: dict[Any, st.SearchStrategy[Any]] = {
    NoneType: st.none(),
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    str: TEXTS,
    bytes: st.binary(max_size=8),
    datetime: TIMES,
    date: st.dates(),
    timedelta: DURATIONS,
    Scope: SCOPES,
    Node: NODES,
    Relation: RELATIONS,
    Fragment: st.builds(
        Fragment,
        memory_id=IDENTIFIERS,
        seen_at=TIMES,
        nodes=st.just((Node(node="a", name="A"), Node(node="b", name="B"))),
        relations=st.lists(RELATIONS, max_size=2).map(tuple),
    ),
    mnemic.Budget: st.builds(mnemic.Budget, max_seconds=st.floats(0.1, 100), max_capture_items=st.integers(1, 9)),
    mnemic.Grant: st.builds(
        mnemic.Grant, keys=st.none() | st.just(frozenset({"seat"})), levels=st.just(frozenset({"user", "agent"}))
    ),
    mnemic.KeyRule: st.just(
        mnemic.KeyRule("seat", on_change="accumulate", ttl_days=9, allowed_values=frozenset({"a"}))
    ),
    mnemic.Policy: st.just(mnemic.Policy(keys={"seat": mnemic.KeyRule("seat", ttl_days=3)}, open_keys=True)),
}
IDENTIFYING = {"tenant", "user", "agent", "workspace", "session", "task"}


def drawn(declared: Any) -> st.SearchStrategy[Any]:
    """Values of an annotation."""
    if declared in GIVEN:
        return GIVEN[declared]
    origin, arguments = get_origin(declared), get_args(declared)
    if declared is Any or bool in arguments:
        return PLAIN
    if origin in (Union, UnionType):
        return st.one_of([drawn(one) for one in arguments])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple and arguments[-1] is not Ellipsis:
        return st.tuples(*map(drawn, arguments))
    if origin in (tuple, Sequence, list):
        return st.lists(drawn(arguments[0]), max_size=2).map(list if origin is list else tuple)
    if origin is frozenset:
        return st.frozensets(drawn(arguments[0]), max_size=2)
    if origin in (Mapping, dict):
        return st.dictionaries(drawn(arguments[0]), drawn(arguments[1]), max_size=2)
    if issubclass(declared, Enum):
        return st.sampled_from(list(declared))
    return of_class(declared)


def of_class(cls: Any) -> st.SearchStrategy[Any]:
    hints = get_type_hints(cls)
    names = cls._fields if hasattr(cls, "_fields") else [one.name for one in dataclasses.fields(cls)]
    return st.deferred(lambda: st.builds(cls, **{name: part_of(cls, name, hints[name]) for name in names}))


def part_of(cls: Any, name: str, hint: Any) -> st.SearchStrategy[Any]:
    if cls is Where and name == "scopes":
        return SCOPES.map(lambda one: (one,))
    if name in IDENTIFYING and cls is mnemic.Actor:
        return IDENTIFIERS
    return drawn(hint)


@pytest.mark.parametrize("cls", VALUES, ids=lambda cls: cls.__name__)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_a_value_comes_back_from_json_from_a_copy_and_from_a_pickle(cls: type, data: st.DataObject) -> None:
    value = data.draw(drawn(cls))

    assert from_json(cls, json.loads(json.dumps(to_json(value), allow_nan=False))) == value
    assert copy.deepcopy(value) == value
    assert pickle.loads(pickle.dumps(value)) == value
    if dataclasses.is_dataclass(value):
        assert cls(**{one.name: getattr(value, one.name) for one in dataclasses.fields(value) if one.init}) == value
        dataclasses.asdict(value)  # type: ignore[arg-type]  # an instance


@settings(max_examples=200)
@given(DURATIONS)
def test_a_duration_is_exact(duration: timedelta) -> None:
    assert from_json(timedelta, to_json(duration)) == duration


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("P2W", timedelta(weeks=2)),
        ("PT1H30M", timedelta(minutes=90)),
        ("-P1DT0.5S", -timedelta(days=1, milliseconds=500)),
        ("P0D", timedelta()),
    ],
)
def test_durations_of_other_writers_are_read(text: str, duration: timedelta) -> None:
    assert duration_of(text) == duration


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "1D", "P1H", "PT1D", "P-1D", "P1Y", "PT0.1234567S", "P1d"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="ISO 8601"):
        duration_of(text)
    with pytest.raises(InvalidInput):
        from_json(timedelta, text)


MEMORY = Memory(
    memory_id="m-1",
    kind=Kind.LONG_TERM,
    scope=Scope(tenant="t", level=Level.USER, owner="ana"),
    content="seat: aisle",
    created_at=datetime(2026, 1, 2, tzinfo=UTC),
    updated_at=datetime(2026, 1, 2, tzinfo=UTC),
    data={"seats": ["12A", {"row": 12}]},
    trust=Trust.MEDIUM,
    vector=b"\x00\x01",
    source=Source(origin=Origin.WEB, span=(1, 4)),
)


def test_a_memory_in_json_reads_like_its_fields() -> None:
    data = MEMORY.to_dict()

    assert data["kind"] == "long_term"
    assert data["trust"] == "medium"
    assert data["scope"] == {"tenant": "t", "level": "user", "owner": "ana"}
    assert data["created_at"] == "2026-01-02T00:00:00+00:00"
    assert data["data"] == {"seats": ["12A", {"row": 12}]}
    assert data["source"]["span"] == [1, 4]
    assert list(data) == [one.name for one in dataclasses.fields(Memory)]


def test_plain_json_types_only() -> None:
    data = Candidate(content="x", level=Level.USER, ttl=timedelta(days=180)).to_dict()

    assert type(data["level"]) is str
    assert type(data["kind"]) is str
    assert data["ttl"] == "P180D"


def test_fields_with_a_default_may_be_left_out() -> None:
    assert Message.from_dict({"role": "user", "content": "hi"}) == Message(role="user", content="hi")


def test_times_with_an_offset_come_back_in_utc() -> None:
    message = Message.from_dict({"role": "user", "content": "hi", "sent_at": "2026-01-01T01:00:00+01:00"})

    assert message.sent_at == datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"colour": "red"}, "invalid_input:colour"),
        ({"memory_id": None}, "invalid_input:memory_id"),
        ({"kind": "novel"}, "invalid_input:kind"),
        ({"kind": 3}, "invalid_input:kind"),
        ({"trust": 2}, "invalid_input:trust"),
        ({"version": True}, "invalid_input:version"),
        ({"version": 1.0}, "invalid_input:version"),
        ({"confidence": "0.8"}, "invalid_input:confidence"),
        ({"confidence": True}, "invalid_input:confidence"),
        ({"confidence": float("nan")}, "invalid_input:confidence"),
        ({"created_at": "2026-01-01T00:00:00"}, "invalid_input:created_at"),
        ({"created_at": "yesterday"}, "invalid_input:created_at"),
        ({"vector": "not base64!"}, "invalid_input:vector"),
        ({"data": []}, "invalid_input:data"),
        ({"supersedes": "m-2"}, "invalid_input:supersedes"),
        ({"supersedes": ["m-2", 3]}, "invalid_input:supersedes.1"),
        ({"source": {"span": [1, 2, 3]}}, "invalid_input:source.span"),
        ({"source": {"origin": "dream"}}, "invalid_input:source.origin"),
        ({"scope": "user"}, "invalid_input:scope"),
        ({"scope": {"tenant": "t", "level": "user"}}, "invalid_input:scope.owner"),
        ({"scope": {"tenant": "t t", "level": "user", "owner": "a"}}, "invalid_input:tenant"),
    ],
)
def test_data_that_does_not_fit_is_refused_by_the_name_of_its_field(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Memory.from_dict({**MEMORY.to_dict(), **changes})

    assert refused.value.reason == reason


@pytest.mark.parametrize("data", [None, 3, "text", ["memory_id"], {}])
def test_what_is_no_object_of_the_class_is_refused(data: Any) -> None:
    with pytest.raises(InvalidInput):
        from_json(Memory, data)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"confidence": float("inf")}, "invalid_input:confidence"),
        ({"created_at": MEMORY.created_at.replace(tzinfo=None)}, "invalid_input:created_at"),
        ({"data": {"a": [object()]}}, "invalid_input:data"),
        ({"data": {1: 2}}, "invalid_input:data"),
        ({"data": {"a": float("nan")}}, "invalid_input:data"),
        ({"scope": "user"}, "invalid_input:scope"),
        ({"kind": "novel"}, "invalid_input:kind"),
        ({"supersedes": "m-2"}, "invalid_input:supersedes"),
        ({"data": {"a": {1, 2}}}, "invalid_input:data"),
    ],
)
def test_what_json_cannot_say_is_refused_by_the_name_of_its_field(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        dataclasses.replace(MEMORY, **changes).to_dict()

    assert refused.value.reason == reason


def test_the_text_of_an_enumeration_is_as_good_as_its_member() -> None:
    assert dataclasses.replace(MEMORY, kind="episodic").to_dict()["kind"] == "episodic"  # type: ignore[arg-type]


def test_data_nested_without_end_is_refused() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidInput) as refused:
        from_json(Memory, {**MEMORY.to_dict(), "data": {"a": deep}})

    assert refused.value.reason == "invalid_input:json"


@dataclass(frozen=True)
class Circle(Serialisable):
    radius: float = 1.0


@dataclass(frozen=True)
class DashedLine(Serialisable):
    length: int
    style: Literal["solid", "dashed"] = "dashed"
    under: Circle | DashedLine | None = None


@dataclass(frozen=True)
class Drawing(Serialisable):
    shapes: tuple[Circle | DashedLine, ...]
    tags: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)
    sizes: Sequence[int] = ()
    size: int | str | None = None


Shape = Circle | DashedLine


def test_a_union_of_classes_says_which() -> None:
    drawing = Drawing(
        shapes=(Circle(), DashedLine(3, "solid", under=Circle(2.0))), tags={"b", "a"}, notes=["x"], size="large"
    )

    data = drawing.to_dict()

    assert data["shapes"][1] == {
        "type": "dashed_line",
        "length": 3,
        "style": "solid",
        "under": {"type": "circle", "radius": 2.0},
    }
    assert data["tags"] == ["a", "b"]
    assert Drawing.from_dict(data) == drawing


def test_a_union_may_be_named_by_the_caller() -> None:
    data = to_json(Circle(4.0), Shape)

    assert data == {"type": "circle", "radius": 4.0}
    assert from_json(Shape, data) == Circle(4.0)  # type: ignore[arg-type]  # a union is no class
    assert Circle.from_dict(data) == Circle(4.0)


@pytest.mark.parametrize("data", [{"type": "square"}, {"radius": 1.0}, {"type": 3}, [], None])
def test_a_class_outside_the_union_is_refused(data: Any) -> None:
    with pytest.raises(InvalidInput):
        from_json(Shape, data)  # type: ignore[arg-type]  # a union is no class
    with pytest.raises(InvalidInput) as refused:
        Drawing.from_dict({"shapes": [data]})
    assert refused.value.reason.startswith("invalid_input:shapes.0")
    with pytest.raises(InvalidInput):
        to_json(MEMORY, Shape)


@pytest.mark.parametrize("data", [{"length": 3, "style": "dotted"}, {"length": 3, "style": 3}])
def test_a_word_outside_a_literal_is_refused(data: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        DashedLine.from_dict(data)

    assert refused.value.reason == "invalid_input:style"


def test_a_union_of_scalars_takes_the_first_that_fits() -> None:
    assert Drawing.from_dict({"shapes": [], "size": 3}).size == 3
    with pytest.raises(InvalidInput) as refused:
        Drawing.from_dict({"shapes": [], "size": 3.5})
    assert refused.value.reason == "invalid_input:size"


def test_a_class_without_a_json_form_is_a_mistake_of_the_program() -> None:
    @dataclass
    class Clock:
        tick: Callable[[], float]

    with pytest.raises(TypeError, match="no JSON form"):
        to_json(Clock(lambda: 0.0))


def test_what_a_constructor_cannot_use_is_refused() -> None:
    @dataclass
    class Even:
        number: int

        def __post_init__(self) -> None:
            if self.number % 2:
                raise ValueError

    assert from_json(Even, {"number": 2}) == Even(2)
    with pytest.raises(InvalidInput):
        from_json(Even, {"number": 3})


def test_search_results_and_receipts_come_back() -> None:
    result = SearchResult(
        hits=(Hit(memory=MEMORY, score=0.5, ranks={"vector": Rank(position=1, score=0.6)}),),
        errors={"graph": "store_unavailable"},
        where=Where(scopes=(MEMORY.scope,), kinds=frozenset({Kind.LONG_TERM, Kind.EPISODIC})),
    )
    receipt = WriteReceipt(outcome=mnemic.Outcome.CREATED, memory_id="m-1", clamped=("ttl",))

    assert SearchResult.from_dict(result.to_dict()) == result
    assert result.to_dict()["where"]["kinds"] == ["episodic", "long_term"]
    assert isinstance(SearchResult.from_dict(result.to_dict()).hits[0].ranks["vector"], Rank)
    assert WriteReceipt.from_dict(receipt.to_dict()) == receipt
