"""Table of the seven memory kinds: where each is stored, for how long, and its guarantees.

Retention and latency budgets are those of ADR-049 ("Memory types and storage strategy"); `mnemic bench` prints its
figures next to the measured ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType

from mnemic.errors import InvalidInput
from mnemic.types import Kind, Level, Origin, Trust


class Home(StrEnum):
    """Storage of a kind: volatile (process, session) or durable (records)."""

    PROCESS = "process"
    SESSION = "session"
    RECORDS = "records"


@dataclass(frozen=True, slots=True, kw_only=True)
class KindSpec:
    """Promises of one kind. `retention`: how long a memory without a lifetime is stored, None until it is changed,
    forgotten or erased (`mnemic.policy.expiry_rule`); `sliding` restarts it at each use.
    """

    kind: Kind
    home: Home
    level: Level
    retention: timedelta | None
    sliding: bool = False
    append_only: bool = False
    reviewed: bool = False
    p95: timedelta

    @property
    def durable(self) -> bool:
        """Stored in the record store: policy and the write path accept it, and it survives a crash."""
        return self.home is Home.RECORDS


def _ms(milliseconds: float) -> timedelta:
    return timedelta(milliseconds=milliseconds)


_TABLE = (
    KindSpec(kind=Kind.WORKING, home=Home.PROCESS, level=Level.SESSION, retention=None, p95=_ms(1)),
    KindSpec(
        kind=Kind.SHORT_TERM,
        home=Home.SESSION,
        level=Level.SESSION,
        retention=timedelta(hours=1),
        sliding=True,
        p95=_ms(10),
    ),
    KindSpec(kind=Kind.LONG_TERM, home=Home.RECORDS, level=Level.USER, retention=None, p95=_ms(100)),
    KindSpec(kind=Kind.PERSONA, home=Home.RECORDS, level=Level.AGENT, retention=None, reviewed=True, p95=_ms(100)),
    KindSpec(
        kind=Kind.EPISODIC,
        home=Home.RECORDS,
        level=Level.USER,
        retention=timedelta(days=90),
        append_only=True,
        p95=_ms(200),
    ),
    KindSpec(kind=Kind.ENTITY, home=Home.RECORDS, level=Level.USER, retention=None, p95=_ms(200)),
    KindSpec(kind=Kind.STRUCTURED, home=Home.RECORDS, level=Level.USER, retention=None, p95=_ms(100)),
)

CATALOG: Mapping[Kind, KindSpec] = MappingProxyType({spec.kind: spec for spec in _TABLE})

DURABLE_KINDS = frozenset(spec.kind for spec in _TABLE if spec.durable)

TRUST: Mapping[Origin, Trust] = MappingProxyType(
    {
        Origin.USER_STATED: Trust.HIGH,
        Origin.OPERATOR: Trust.HIGH,
        Origin.IMPORT: Trust.MEDIUM,
        Origin.AGENT_INFERRED: Trust.MEDIUM,
        Origin.TOOL_OUTPUT: Trust.LOW,
        Origin.WEB: Trust.LOW,
    }
)
"""The trust that each channel gives. A channel is known to the engine; it is never read from the text."""


def kind_of(kind: Kind | str) -> Kind:
    """Return the kind of this name. Raises InvalidInput (`kind`)."""
    try:
        return Kind(kind)
    except ValueError:
        raise InvalidInput("kind", hint=f"one of {', '.join(Kind)}") from None
