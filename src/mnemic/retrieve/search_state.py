"""State of one search: the query, the intermediate results, the failures."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from mnemic.errors import MnemicError
from mnemic.language.questions.attributes import statement_opening
from mnemic.language.questions.times import Clause, clause_of
from mnemic.language.text.time_expressions import READ
from mnemic.ports import Snapshot
from mnemic.retrieve.candidate_lists import RankedList
from mnemic.retrieve.graph_neighbourhood import ReachedNode
from mnemic.retrieve.policy_candidates import PreferenceBias
from mnemic.retrieve.question import Question, parts_of, read_question
from mnemic.retrieve.time_questions import past_of
from mnemic.types import JsonValue, Scored, Vector, VectorSpace, Where
from mnemic.types.ratings import Rating

Lists = dict[str, Sequence[Scored]]
NO_RATINGS: Mapping[str, Rating] = MappingProxyType({})


class Decisions(NamedTuple):
    """What a search's user decided: keys of which nothing may be found, None for those of the request, and ratings by
    memory_id.
    """

    hidden_keys: frozenset[str] | None = None
    ratings: Mapping[str, Rating] = NO_RATINGS


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """Request of a caller: a text and its limits, not yet read. See `Searcher.search`."""

    text: str
    parts: tuple[str, ...]
    where: Where
    top_k: int
    bias: PreferenceBias
    min_score: float
    named: bool
    known_at: datetime | None
    asked_on: date | None
    depth: int
    data: Mapping[str, JsonValue] | None = None

    async def read(self, speakers: frozenset[str]) -> ParsedSearch:
        """Return the search for it, its text parsed with the speakers."""
        # A long text takes milliseconds, in which this process would answer no other call.
        if len(self.text) <= READ:
            return self._read(speakers)
        return await asyncio.to_thread(self._read, speakers)

    def _read(self, speakers: frozenset[str]) -> ParsedSearch:
        read = partial(read_question, speakers=speakers, asked_on=self.asked_on, depth=self.depth)
        clause = clause_of(self.text, self.asked_on)
        question = read(self.text)
        return ParsedSearch(
            request=self,
            where=self.where,
            question=question,
            past=past_of(question, self.where, self.asked_on, clause),
            parts=tuple(read(part) for part in (self.parts or parts_of(self.text))),
            stated=tuple(map(read, filter(None, (statement_opening(question.embedded),)))),
            clause=clause,
            event=None if clause is None else read(clause.text),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedSearch:
    """Parsed request. `stated` are beginnings of statements that answer the question, which are nearer to these than
    the question is. `past` is the filter for superseded memories, for a question about the past. `event` are the
    words of `clause`. `errors` collects failures as `name: reason`; `reached` are the entities that the query names and
    their neighbours.
    """

    request: SearchRequest
    where: Where
    question: Question
    parts: tuple[Question, ...]
    stated: tuple[Question, ...]
    clause: Clause | None
    event: Question | None
    past: Where | None = None
    ratings: Mapping[str, Rating] = field(default_factory=lambda: NO_RATINGS)
    errors: dict[str, str] = field(default_factory=dict)
    failures: list[MnemicError] = field(default_factory=list)
    reached: list[ReachedNode] = field(default_factory=list)

    @property
    def asked(self) -> tuple[Question, ...]:
        """All that is embedded: the question, its parts, the statements, the event."""
        return (self.question, *self.parts, *self.stated, *(() if self.event is None else (self.event,)))

    @property
    def texts(self) -> list[str]:
        """The texts of `asked`."""
        return [one.embedded for one in self.asked]

    def with_vectors(self, vectors: Sequence[Vector | None], space: VectorSpace) -> ParsedSearch:
        """Return this search with the vectors of `asked`, which are of `space`."""
        asked = [replace(one, vector=vector, space=space) for one, vector in zip(self.asked, vectors, strict=True)]
        # `asked` ends with the event, if there is one; the rest is question, parts, statements, in this order.
        event = None if self.event is None else asked.pop()
        parts, said = asked[1 : 1 + len(self.parts)], asked[1 + len(self.parts) :]
        return replace(self, question=asked[0], parts=tuple(parts), stated=tuple(said), event=event)

    def under(self, decisions: Decisions) -> ParsedSearch:
        """Return the same under the decisions of its user: without memories under hidden keys, including past values,
        and with the ratings.
        """
        keys, ratings = decisions
        if keys is None:
            return replace(self, ratings=ratings) if ratings else self
        past = None if self.past is None else replace(self.past, hidden_keys=keys)
        return replace(self, where=replace(self.where, hidden_keys=keys), past=past, ratings=ratings)

    def note(self, name: str, failure: MnemicError) -> None:
        """Report in the result that `name` failed."""
        # Both: the result names each failure, and the first is raised if no list is left.
        self.errors[name] = failure.reason
        self.failures.append(failure)

    async def make_lists(self, lists: Mapping[str, RankedList], snapshot: Snapshot) -> Lists:
        """Those of `lists` that can be made; failures are noted."""
        made: Lists = {}
        for name, make in lists.items():
            try:
                made[name] = await make(snapshot, self.where, self.question)
            except MnemicError as failure:
                self.note(name, failure)
        return made
