"""Structured memory: data of a known shape, checked, found by its fields, and stored in versions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mnemic.errors import InvalidConfig, InvalidInput, ModelFailed, NotSupported, VersionConflict
from mnemic.kinds.view import KindView, one_statement
from mnemic.runtime.sync_facade import CallMode, M, verb
from mnemic.structured.documents import DocumentReader, fields_by_model, installed_readers, no_reader, package_missing
from mnemic.structured.schema import Schema
from mnemic.structured.shape import Shape
from mnemic.types import Actor, Candidate, Kind, Memory, Origin, Readings, Source, WriteReceipt

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine

PAGE = 500
MAX_FOUND = 500
ATTEMPTS = 8
LONGEST_DOCUMENT = 4 * 1024 * 1024
"""Characters of a text that data is read from: a mail with all its markup."""


class StructuredMemory(KindView[M]):
    """Data of known shapes, one memory for each thing: putting it again makes its next version.

    Known from the start are the shapes that installed packages bring: with mnemic-travel schema.org's reservations
    (`FlightReservation`, `LodgingReservation`, ...). `define` adds others. `readers` gives the readers of documents.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        call_mode: CallMode[M],
        *,
        readers: Callable[[], Sequence[DocumentReader]] = installed_readers,
    ) -> None:
        super().__init__(engine, actor, call_mode)
        self._readers = readers

    @cached_property
    def shapes(self) -> dict[str, Shape]:
        """The shapes that are known, by name."""
        return {name: shape for reader in self._readers() for name, shape in reader.shapes.items()}

    def define(self, name: str, schema: Mapping[str, Any], *, identity: Sequence[str] = ()) -> Shape:
        """Let data called `name` be put. `identity` are the fields (dotted) by which two of it are the same.

        Raises InvalidConfig (`invalid_config:schema:<keyword>`), InvalidInput (`invalid_input:field:<name>`).
        """
        shape = Shape(name=name, schema=Schema(schema), identity=tuple(identity), title=tuple(identity))
        shape.conditions(dict.fromkeys(identity))
        self.shapes[name] = shape
        return shape

    @verb
    @one_statement
    async def put(
        self, name: str, data: Mapping[str, Any], *, origin: Origin = Origin.USER_STATED
    ) -> Sequence[WriteReceipt]:
        """Store `data`, merged with the known version of the same item: fields it leaves out remain, and the previous
        version goes to the history.

        Returns one receipt for each memory created or changed: several if `data` matches several, as the cancellation
        of a booking with two flights does. Lower trust changes nothing (`blocked`, `lower_trust`). Raises InvalidInput
        (`invalid_input:shape`, `:data:<path>:<keyword>`), and like the other verbs MissingExtra
        (`missing_extra:<name>`) for a shape of a package that is not installed.
        """
        shape = self._shape(name)
        return await self._settle_data(shape, shape.check_data(data), origin)

    @verb
    async def query(self, name: str, where: Mapping[str, Any] | None = None, *, limit: int = 50) -> Sequence[Memory]:
        """Return the newest `limit` (1 to 500) memories called `name` whose fields are as `where` wants them: a value,
        or operators such as `{"$gte": low, "$lt": high}`; see `mnemic.types.filter_language`. Times are compared as
        times.

        Raises InvalidInput (`invalid_input:shape`, `:field:<name>`, `:operator`, `:limit`).
        """
        conditions = self._shape(name).conditions(where or {})
        if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_FOUND:
            raise InvalidInput("limit", hint=f"1 to {MAX_FOUND}")
        facets = [one for one in (condition.facets() for condition in conditions) if one is not None]
        found: list[Memory] = []
        async for memory in self._all(name, facets):
            if all(condition.met_by(memory.data) for condition in conditions):
                found.append(memory)
                if len(found) == limit:
                    break
        return found

    @verb
    async def extract(
        self, text: str, name: str | None = None, *, sent_at: datetime | None = None
    ) -> Readings[dict[str, Any]]:
        """Extract data of the shape `name` from `text` (plain, HTML, a mail, a calendar), ready for `put`; nothing is
        stored.

        Readers of installed packages extract their shapes by rules; without `name`, all of them. A model, if there is
        one, extracts what rules do not find and every other shape. Weekdays and dates without a year are resolved from
        `sent_at` (default: now). If the model fails on a shape that rules read, too, the result is theirs, and
        `degraded` says why. Raises InvalidInput (`invalid_input:shape`), MissingExtra if `name` is left out and no
        package reads documents, NotSupported for a shape that needs a model, and ModelFailed for such a shape, or if
        the policy stops at a model's failure.
        """
        return await self._extract(text, name, sent_at)

    @verb
    @one_statement
    async def capture(
        self, text: str, name: str | None = None, *, sent_at: datetime | None = None, origin: Origin = Origin.IMPORT
    ) -> Readings[WriteReceipt]:
        """Put what `extract` finds in `text`; the receipts of all of it. Raises what `extract` and `put` do."""
        found = await self._extract(text, name, sent_at)
        receipts = Readings[WriteReceipt](degraded=found.degraded)
        for data in found:
            shape = self._shape(name or str(data["@type"]))
            receipts += await self._settle_data(shape, shape.check_data(data), origin)
        return receipts

    @verb
    async def history(self, memory_id: str) -> Sequence[Memory]:
        """All versions of it, oldest first. Raises MemoryNotFound."""
        return await self._engine.history(memory_id, actor=self._actor)

    def _shape(self, name: str) -> Shape:
        if name not in self.shapes:
            absent = package_missing(name)
            if absent is not None:
                raise absent
            raise InvalidInput("shape", hint="known are " + ", ".join(sorted(self.shapes)))
        return self.shapes[name]

    async def _all(self, name: str, facets: Sequence[frozenset[str]]) -> AsyncIterator[Memory]:
        """Yield the memories that are called so and may have the facets, newest first."""
        before: str | None = None
        while page := await self._engine.list(
            actor=self._actor, kinds=[Kind.STRUCTURED], categories=[name], facets=facets, limit=PAGE, before=before
        ):
            for memory in page:
                yield memory
            before = page[-1].memory_id

    async def _extract(self, text: str, name: str | None, sent_at: datetime | None) -> Readings[dict[str, Any]]:
        wanted = None if name is None else self._shape(name)
        if len(text) > LONGEST_DOCUMENT:
            raise InvalidInput("text", hint=f"at most {LONGEST_DOCUMENT} characters")
        clock, completer, rules = self._engine.clock, self._engine.completer, self._engine.rules
        sent_on = (sent_at or clock.now()).date()
        if wanted is None:
            return Readings(await self._read(text, self._readers(), sent_on))
        readers = [reader for reader in self._readers() if wanted.name in reader.shapes]
        if readers:
            found = [one for one in await self._read(text, readers, sent_on) if one["@type"] == wanted.name]
            if found or completer is None:
                return Readings(found)
        if completer is None:
            raise NotSupported(f"extract:{name}", hint="reading this shape from a text needs a language model")
        deadline = rules.budget.deadline(clock.monotonic)
        try:
            return Readings(await fields_by_model(completer, text, wanted, sent_on=sent_on, deadline=deadline))
        except (ModelFailed, InvalidInput, InvalidConfig) as failure:
            if not readers or rules.policy.on_model_failure == "stop":
                raise
            return Readings(degraded=failure.reason)

    async def _read(self, text: str, readers: Sequence[DocumentReader], sent_on: date) -> list[dict[str, Any]]:
        if not readers:
            raise no_reader()
        # In a thread: the time depends on the size of a sender's text.
        found = await asyncio.to_thread(lambda: [reader.read(text, sent_on=sent_on) for reader in readers])
        return [one for each in found for one in each]

    async def _settle_data(self, shape: Shape, data: Mapping[str, Any], origin: Origin) -> list[WriteReceipt]:
        """Put it, again and again while others change it too."""
        for _ in range(ATTEMPTS):
            try:
                return await self._put(shape, data, origin)
            except VersionConflict:
                continue
        raise VersionConflict(hint="others keep changing it")

    async def _put(self, shape: Shape, data: Mapping[str, Any], origin: Origin) -> list[WriteReceipt]:
        known = await self._find_known(shape, data)
        if known:
            return [await self._revise(shape, memory, data, origin) for memory in known]
        receipt = await self._engine.add(
            Candidate(
                content=shape.content(data),
                key=shape.key(data),
                kind=Kind.STRUCTURED,
                category=shape.name,
                context=shape.context(data),
                data=data,
                source=Source(origin=origin, session=self._actor.session),
            ),
            actor=self._actor,
        )
        for memory_id in receipt.superseded:
            # Another caller put the same thing in the same moment: those fields must not get lost.
            other = await self._engine.get(memory_id, actor=self._actor)
            mine = await self._engine.get(receipt.memory_id or "", actor=self._actor)
            return [await self._revise(shape, mine, shape.merge_data(other.data, data), origin)]
        return [receipt]

    async def _find_known(self, shape: Shape, data: Mapping[str, Any]) -> list[Memory]:
        """Find the memories of the same thing: under its keys, or among all if the identity is incomplete."""
        if not shape.identity:
            return []
        keys = shape.keys(data)
        if keys is None:
            found = [memory async for memory in self._all(shape.name, shape.same_facets(data))]
        else:
            found = [*await self._engine.list(actor=self._actor, kinds=[Kind.STRUCTURED], keys=keys, limit=PAGE)]
        return [memory for memory in found if shape.same(memory.data, data)]

    async def _revise(self, shape: Shape, known: Memory, data: Mapping[str, Any], origin: Origin) -> WriteReceipt:
        merged = shape.check_data(shape.merge_data(known.data, data))
        return await self._engine.update(
            known.memory_id,
            shape.content(merged),
            actor=self._actor,
            data=merged,
            context=shape.context(merged),
            origin=origin,
            expected_version=known.version,
        )
