"""Offers of a source to one model call, and the fair choice among several sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time
from types import MappingProxyType
from typing import Protocol, overload

from mnemic.inject.render import defuse_addresses, visible
from mnemic.inject.token_count import ENTRY_OVERHEAD_TOKENS, TokenCount, estimated_tokens
from mnemic.language.text.normalise import canonical_value
from mnemic.language.text.time_expressions import periods_in
from mnemic.types import PARTICIPANT, PASTED, SHARED, Actor, Deadline, Hit, Kind, Memory, Origin, Status, Trust

TRUSTED_ORIGINS = frozenset({Origin.USER_STATED, Origin.OPERATOR, Origin.IMPORT})
"""Channels of a person's own words. Content from a tool, the web or a model is untrusted."""


def is_trusted(memory: Memory, reader: Actor) -> bool:
    """Return True if the memory counts as a person's own words for `reader`. Another user's memory at a shared level
    counts once it is approved; a message that mostly consists of pasted text never does, nor one of another person who
    takes part in a talk, nor what was imported without saying who said it, as notes are.
    """
    own = memory.source.origin in TRUSTED_ORIGINS and not {PASTED, PARTICIPANT} & memory.data.keys()
    return own and not _lacks_speaker(memory) and not _is_unapproved(memory, reader)


def is_limited(memory: Memory, reader: Actor) -> bool:
    """Return True if the memory is one of those of which only a few are shown at once: untrusted, and not a text that a
    person chose to import.
    """
    return not is_trusted(memory, reader) and not _lacks_speaker(memory)


def _lacks_speaker(memory: Memory) -> bool:
    """Return True for an imported text that neither names who said it nor was read from such words."""
    source = memory.source
    return source.origin is Origin.IMPORT and source.speaker is None and source.quote is None


def _is_unapproved(memory: Memory, reader: Actor) -> bool:
    shared = memory.scope.level in SHARED and memory.trust < Trust.HIGH
    return shared and memory.author not in (None, reader.user)


_CHANNELS: Mapping[Origin, str] = MappingProxyType(
    {
        Origin.IMPORT: "import",
        Origin.AGENT_INFERRED: "assistant",
        Origin.TOOL_OUTPUT: "tool",
        Origin.WEB: "web",
    }
)
"""Source that is named if a memory names no speaker."""
_OWN_SPEAKERS = frozenset({None, "", "user"})


def said_by(memory: Memory, reader: Actor) -> str | None:
    """Return the author: a speaker's name or role, another user, `pasted` for pasted text, else the channel; None for
    the reader's own words and the operator's.
    """
    source = memory.source
    if PASTED in memory.data:
        return PASTED
    if source.speaker not in _OWN_SPEAKERS:
        return source.speaker
    if source.origin in TRUSTED_ORIGINS and _is_unapproved(memory, reader):
        return memory.author
    return _CHANNELS.get(source.origin)


def _date_text(hit: Hit) -> str:
    """Return when a memory that is no longer true was true, or when a statement that has been replaced was made."""
    memory = hit.memory
    if memory.status is Status.SUPERSEDED and memory.valid_to is not None:
        began = memory.valid_from or memory.happened_at
        return f" ({began:%Y-%m-%d} to {memory.valid_to:%Y-%m-%d})"
    if hit.disagrees_with:
        return f" (as of {memory.happened_at:%Y-%m-%d}; another statement disagrees)"
    if hit.outdated_by is not None:
        return f" (as of {memory.happened_at:%Y-%m-%d})"
    day = _day_meant(memory)
    return f" ({day:%Y-%m-%d})" if day is not None else ""


def _day_meant(memory: Memory) -> date | None:
    """Return the day that "yesterday" and the like mean in a memory; None without such words.

    A statement that was read from a message is dated with the day of its event, at midnight, a message with the time
    at which it was said: only the day beside the words has one meaning.
    """
    at = memory.happened_at
    days = [period.day for period in periods_in(memory.content, at.date(), dated=False)]
    if len(days) != 1 or days[0] is None or days[0] == at.date():
        return None
    is_of_event = memory.occurred_at is not None and memory.occurred_at.time() == time()
    return at.date() if is_of_event else days[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntry:
    """One piece of text that may be injected. `score` is in its source's own unit; `hit` is set if it is one of our
    memories. `pinned`: it belongs into every input; content of an untrusted channel never is, and is shown only if it
    matches. `relevance` is the probability (0..1) that its source knows anything about the query; None if unknown.
    `said_by` is the author if these are not the user's own words; then links and images are defused. `limited`: few of
    its kind are shown at once; by default so if it is untrusted.
    """

    content: str = field(repr=False)
    source: str | None = None
    score: float = 0.0
    trusted: bool = False
    hit: Hit | None = None
    pinned: bool = False
    relevance: float | None = None
    said_by: str | None = None
    limited: bool | None = None

    def __post_init__(self) -> None:
        # Untrusted text may not place itself into every prompt.
        object.__setattr__(self, "pinned", self.pinned and self.trusted)
        object.__setattr__(self, "limited", not self.trusted if self.limited is None else self.limited)

    @classmethod
    def from_hit(cls, hit: Hit, source: str, *, reader: Actor, relevance: float | None = None) -> SourceEntry:
        """Return a hit of a search as an entry of `source` for a model that serves `reader`; `relevance` is the
        search's.
        """
        memory = hit.memory
        # The key of a person or a thing is made of identifiers, and its content says who or what that is.
        named = memory.key is not None and memory.kind is not Kind.ENTITY
        text = f"{memory.key}: {memory.content}" if named else memory.content
        return cls(
            content=text + _date_text(hit),
            source=source,
            score=hit.score,
            trusted=is_trusted(memory, reader),
            hit=hit,
            pinned=hit.pinned,
            relevance=relevance,
            said_by=said_by(memory, reader),
            limited=is_limited(memory, reader),
        )

    @property
    def shown(self) -> str:
        """Return the content as a model is shown it outside a block: without invisible characters and, for other
        people's words, with the author and with links and images defused.
        """
        text = visible(self.content)
        text = text if self.may_link else defuse_addresses(text)
        return text if self.said_by is None else f"[{defuse_addresses(visible(self.said_by))}] {text}"

    @property
    def is_own(self) -> bool:
        """True if these are the words of the user, or of the program's operator."""
        return self.trusted and self.said_by is None

    @property
    def may_link(self) -> bool:
        """True if its links and images are shown unchanged: in the user's own words, but not in a recorded message,
        which may contain pasted text.
        """
        return self.is_own and (self.hit is None or self.hit.memory.source.speaker is None)

    @property
    def identity(self) -> str:
        """Two entries with the same identity are the same memory, or have the same content."""
        return self.hit.memory.memory_id if self.hit is not None else canonical_value(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceEntries(Sequence[SourceEntry]):
    """Entries that a source has chosen. `abstained`: it left out entries that are probably not about the query.
    `partial`: why it may lack entries that it should have, if it may.
    """

    entries: tuple[SourceEntry, ...] = ()
    abstained: bool = False
    partial: str | None = None

    @overload
    def __getitem__(self, place: int) -> SourceEntry: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[SourceEntry]: ...
    def __getitem__(self, place: int | slice) -> SourceEntry | Sequence[SourceEntry]:
        return self.entries[place]

    def __len__(self) -> int:
        return len(self.entries)


class MemorySource(Protocol):
    """Source of entries. `name` is shown to the model and appears in reports."""

    @property
    def name(self) -> str:
        """The source's name."""

    async def search(self, query: str, *, limit: int, deadline: Deadline) -> Sequence[SourceEntry]:
        """Return at most `limit` entries, best first, preceded by the pinned ones. May raise anything: the failure is
        reported under the source's name.
        """


def pinned_cut(
    found: Mapping[str, Sequence[SourceEntry]], max_tokens: int, count: TokenCount = estimated_tokens
) -> list[SourceEntry]:
    """Return the entries that belong into every input, of every source, as long as their text fits `max_tokens`."""
    own = {name: [one for one in entries if one.pinned] for name, entries in found.items()}
    kept: list[SourceEntry] = []
    for entry in fair_cut(own, sum(map(len, own.values()))):
        cost = ENTRY_OVERHEAD_TOKENS + count(entry.content)
        if cost <= max_tokens:
            kept.append(entry)
            # One that is too long does not end the loop: a shorter one may still fit.
            max_tokens -= cost
    return kept


def fair_cut(
    found: Mapping[str, Sequence[SourceEntry]], max_entries: int, *, max_untrusted: int | None = None
) -> list[SourceEntry]:
    """Return the best `max_entries` across sources: every source's best first, then every source's second, and so on.

    Scores of different sources have different units, so they decide only between entries of the same rank. The same
    memory, or the same words, come once. At most `max_untrusted` of the entries are untrusted.
    """
    order = sorted(
        ((rank, entry, place) for place, entries in enumerate(found.values()) for rank, entry in enumerate(entries)),
        key=lambda one: (one[0], -one[1].score, one[2]),
    )
    kept: dict[str, SourceEntry] = {}
    untrusted = 0
    for _, entry, _ in order:
        if len(kept) >= max_entries:
            break
        if entry.identity in kept or (entry.limited and untrusted == max_untrusted):
            continue
        untrusted += bool(entry.limited)
        kept[entry.identity] = entry
    return list(kept.values())
