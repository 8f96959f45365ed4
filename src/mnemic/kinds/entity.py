"""Entity memory: people and things that the user mentions, their relations to each other, and when these began.

Every name and every relation is a separate memory under a unique key: it passes policy and the write path, can be
reviewed, corrected and erased, and keeps its history. The graph is derived from these memories and can be rebuilt.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mnemic.errors import InvalidInput, NotSupported, StoreFailed
from mnemic.extract.entities import ME, ROLE, EntityReader, NamedEntity, StatedRelation
from mnemic.graph.entity_names import (
    MAX_VALUE_CHARS,
    ME_NODE,
    SAME,
    MergedNodes,
    StatementOrigin,
    check_name,
    chosen,
    ends_of,
    is_name,
    key_of,
    me_or,
    name_key,
    node_of,
    relating,
)
from mnemic.graph.search import GraphTraversal
from mnemic.kinds.entity_readers.model_reader import LayeredEntityReader
from mnemic.kinds.entity_readers.rules import RuleEntityReader
from mnemic.kinds.view import KindView, one_statement
from mnemic.language.entities.relations import LABELS, SAME_AS, THING, USER, rule_of
from mnemic.ports.further_stores import GraphStore
from mnemic.runtime.sync_facade import CallMode, M, verb
from mnemic.types import (
    Actor,
    Candidate,
    Deadline,
    Kind,
    Level,
    Memory,
    Message,
    Neighbour,
    Node,
    Relation,
    WriteReceipt,
)
from mnemic.types.graph import MAX_NODES

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine

MAX_SAME = 500
_EVER = datetime(1900, 1, 1, tzinfo=UTC)
"""Beginning of an alias: it also applies to questions about the time before it was stated."""

_log = logging.getLogger("mnemic.kinds")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityExtraction:
    """Record of an extraction: a receipt for each name and relation, in order, and the number of relations left out
    because one end could not be resolved ("my sister", without a known sister). `degraded`: the reason why the language
    model did not read the text, so that only rules did.
    """

    receipts: tuple[WriteReceipt, ...] = ()
    unresolved: int = 0
    skipped: tuple[str, ...] = field(default=())
    degraded: str | None = None


class EntityMemory(KindView[M]):
    """People, places and things of one user. Nothing is shared: two users who mention one café have one entity each.

    A name identifies one thing of a kind, ignoring case, accents, titles and legal forms. Aliases are given by
    `mention(name, aliases=...)` or read from texts ("Robert, also known as Bob"); names are never merged by guessing.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        call_mode: CallMode[M],
        *,
        reader: EntityReader | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        """`deadline`: until then a model may read; by default it has the time of a turn for each text."""
        super().__init__(engine, actor, call_mode)
        self._deadline = deadline
        self._reader = reader or (LayeredEntityReader(engine.completer) if engine.completer else RuleEntityReader())

    # -- telling ------------------------------------------------------------------------------------------------------

    @verb
    @one_statement
    async def mention(self, name: str, *, label: str = THING, aliases: Sequence[str] = ()) -> Sequence[WriteReceipt]:
        """Remember that there is something of this name, and its other names: one receipt each. Mentioned again, it is
        only refreshed.

        Raises InvalidInput (`invalid_input:name`, `:label`).
        """
        named = NamedEntity(name=name, label=label, aliases=tuple(aliases))
        names, _ = await self._resolve_names([named])
        return await self._mention(named, names, StatementOrigin(self._actor))

    @verb
    @one_statement
    async def relate(
        self,
        source: str,
        relation: str,
        target: str,
        *,
        since: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> WriteReceipt:
        """Store that `source` (a name, or "me") has the relation `relation` (`works_at`, any lower-case word) to
        `target`.

        A relation of which only one exists at a time (employer, home, spouse) ends the previous one, which the graph
        keeps as history. Raises InvalidInput (`invalid_input:name`, `:relation`).
        """
        stated = StatedRelation(source=me_or(source), relation=relation, target=me_or(target), since=since)
        origin = StatementOrigin(self._actor)
        names, new = await self._resolve_names(ends_of(stated))
        for named in new:
            await self._mention(named, names, origin)
        written = await self._relate(stated, names, await self._same(), origin, idempotency_key)
        assert written is not None
        return written

    @verb
    @one_statement
    async def end(self, source: str, relation: str, target: str) -> WriteReceipt | None:
        """End a relation; None if it was not known to be true."""
        stated = StatedRelation(source=me_or(source), relation=relation, target=me_or(target), ended=True)
        names, _ = await self._resolve_names(ends_of(stated))
        return await self._relate(stated, names, await self._same(), StatementOrigin(self._actor))

    @verb
    @one_statement
    async def same(self, name: str, other: str) -> WriteReceipt:
        """Store that `name` is another name of `other`: from now on queries treat them as one entity, and facts about
        either belong to `other`. Nothing is rewritten: `apart`, or forgetting this memory, separates them again.

        Raises InvalidInput (`invalid_input:name`) if one of them is unknown, is the user, or is the other.
        """
        one, another = await self._node(name), await self._node(other)
        if one is None or another is None or USER in (one["label"], another["label"]) or one == another:
            raise InvalidInput("name", hint="two names that are known, of two things")
        relation = StatedRelation(source=one["node"], relation=SAME_AS, target=another["node"], since=_EVER)
        names = {one["node"]: one, another["node"]: another}
        written = await self._relate(relation, names, MergedNodes(), StatementOrigin(self._actor))
        assert written is not None
        return written

    @verb
    @one_statement
    async def separate(self, name: str, other: str) -> WriteReceipt | None:
        """Separate two names again, in whichever order they were merged; None if they were not."""
        one, another = await self._node(name), await self._node(other)
        if one is None or another is None:
            return None
        names = {one["node"]: one, another["node"]: another}
        for source, target in ((one, another), (another, one)):
            relation = StatedRelation(source=source["node"], relation=SAME_AS, target=target["node"], ended=True)
            written = await self._relate(relation, names, MergedNodes(), StatementOrigin(self._actor))
            if written is not None:
                return written
        return None

    @verb
    @one_statement
    async def extract(self, text: str | Message, *, idempotency_key: str | None = None) -> EntityExtraction:
        """Store the people and things that a text of the user's names, and their relations ("my sister Ana works at
        Siemens in Berlin"). Questions, hypotheses, quotations and reports state nothing. Rules read the
        text, and a configured language model adds to what they read, within the `max_seconds` of a turn.
        """
        message = Message(role="user", content=text, session=self._actor.session) if isinstance(text, str) else text
        deadline = self._deadline or self._engine.rules.budget.deadline(self._engine.clock.monotonic)
        reading = await self._reader.read(message, deadline=deadline)
        origin = StatementOrigin(self._actor, message)
        kept = [named for named in reading.named if is_name(named.name)]
        names, _ = await self._resolve_names(kept)
        receipts: list[WriteReceipt] = []
        for named in kept:
            receipts += await self._mention(named, names, origin)
        unresolved, same = 0, await self._same()
        for number, stated in enumerate(reading.relations):
            meant = await self._meant(stated, names)
            if meant is None:
                unresolved += 1
                continue
            key = None if idempotency_key is None else f"{idempotency_key}:{number}"
            written = await self._relate(meant, names, same, origin, key)
            receipts += [written] if written is not None else []
            same = await self._same() if meant.relation == SAME_AS else same
        skipped = tuple(one.reason for one in reading.skipped)
        return EntityExtraction(
            receipts=tuple(receipts), unresolved=unresolved, skipped=skipped, degraded=reading.degraded
        )

    # -- asking -------------------------------------------------------------------------------------------------------

    @verb
    async def of_user(self, label: str | None = None, *, limit: int = 50) -> Sequence[Node]:
        """Return the nodes that the user has spoken of, last first; with a label only people, places, ... Raises
        StoreFailed.
        """
        same = await self._same()
        more = min(MAX_NODES, limit + same.fewer) if limit in range(1, MAX_NODES + 1) else limit
        found = await self._graph.nodes(self._scope, label=label, limit=more)
        return [node for node in same.join_nodes(found) if node.label != USER][:limit]

    @verb
    async def neighbours(
        self, name: str = "me", *, hops: int = 1, at: datetime | None = None, limit: int = 50
    ) -> Sequence[Neighbour]:
        """Return the nodes within `hops` (1 to 6) relations of `name` now, or `at` another time; nearest first, each
        with the way there. Empty if nothing of that name is known.
        """
        node = await self._node(name)
        if node is None:
            return []
        return await (await self._walks(at)).find_neighbours(node["node"], hops=hops, limit=limit)

    @verb
    async def path(
        self, source: str, target: str, *, hops: int = 4, at: datetime | None = None
    ) -> Sequence[Relation] | None:
        """Return the shortest path from one to the other now, or at the time `at`; None if there is none."""
        one, other = await self._node(source), await self._node(target)
        if one is None or other is None:
            return None
        return await (await self._walks(at)).path(one["node"], other["node"], hops=hops)

    # -- who is who ---------------------------------------------------------------------------------------------------

    @property
    def _graph(self) -> GraphStore:
        if self._engine.graph is None:
            raise NotSupported("graph", hint="the engine was built without a graph")
        return self._engine.graph

    @property
    def _scope(self) -> Any:
        return self._actor.scope(Level.USER)

    async def _walks(self, at: datetime | None) -> GraphTraversal:
        return GraphTraversal(self._graph, self._scope, await self._same(), at or self._engine.clock.now())

    async def _same(self) -> MergedNodes:
        """Return the nodes that are one entity, as stated."""
        statements = await self._engine.list(actor=self._actor, kinds=[Kind.ENTITY], categories=[SAME], limit=MAX_SAME)
        return MergedNodes.from_memories(reversed(statements))

    async def _node(self, name: str) -> dict[str, Any] | None:
        """Return the node of this name, or None. Of several kinds, the one that was written last."""
        if me_or(name) == ME:
            return ME_NODE
        found = await self._naming_memories([name])
        return node_of(found[0]) if found else None

    async def _naming_memories(self, names: Collection[str]) -> list[Memory]:
        """Return the memories of the bearers of this name, newest first."""
        keys = [name_key(label, name) for name in names for label in sorted(LABELS)]
        if not keys:
            return []
        found = await self._engine.list(actor=self._actor, kinds=[Kind.ENTITY], keys=keys, limit=len(keys))
        return sorted(found, key=lambda memory: memory.updated_at, reverse=True)

    async def _resolve_names(self, named: Sequence[NamedEntity]) -> tuple[dict[str, dict[str, Any]], list[NamedEntity]]:
        """Resolve each name to a known or a new entity, and return the new ones as well. A name without a kind matches
        every kind, and an entity without a kind takes the one that is stated now.
        """
        for one in named:
            check_name(one)
        said = {one.name: one.label for one in named if one.name != ME}
        said |= {alias: one.label for one in named for alias in one.aliases}
        known: dict[tuple[str, str], dict[str, Any]] = {}
        by_key = {memory.key: memory for memory in await self._naming_memories(said)}
        for name in said:
            for label in LABELS:
                memory = by_key.get(name_key(label, name))
                node = node_of(memory) if memory is not None else None
                if node is not None:
                    known[name, label] = node
        others = [one for one in named if one.name != ME]
        meant = {ME: ME_NODE} | {one.name: chosen(one, known) for one in others}
        taken = {node["node"] for node in known.values()}
        new = [one for one in others if meant[one.name]["node"] not in taken]
        return meant, new

    async def _meant(self, relation: StatedRelation, names: Mapping[str, dict[str, Any]]) -> StatedRelation | None:
        """Return `relation` with "my sister" replaced by that person; None if none or several are known."""
        source = await self._in_role(relation.source, names)
        target = await self._in_role(relation.target, names)
        if source is None or target is None:
            return None
        return replace(relation, source=source, target=target)

    async def _in_role(self, end: str, names: Mapping[str, dict[str, Any]]) -> str | None:
        if not end.startswith(ROLE):
            return end if end in names else None
        relation = end.removeprefix(ROLE)
        now = self._engine.clock.now()
        try:
            around = await self._graph.neighbours(self._scope, ME_NODE["node"], at=now, limit=200)
        except (StoreFailed, NotSupported) as error:
            _log.warning("the graph could not be asked who is meant: %s", error.reason)
            return None
        found = [one.node for one in around if (one.path[0].relation, one.path[0].target) == (relation, one.node.node)]
        if len(found) != 1:
            return None
        node = found[0]
        names[node.name] = {"node": node.node, "name": node.name, "label": node.label}  # type: ignore[index]
        return node.name

    # -- writing ------------------------------------------------------------------------------------------------------

    async def _mention(
        self, named: NamedEntity, names: Mapping[str, dict[str, Any]], origin: StatementOrigin
    ) -> list[WriteReceipt]:
        node = names[named.name]
        said = [f"{node['name']} ({node['label']})"]
        said += [f"{alias} is another name of {node['name']}" for alias in named.aliases]
        receipts = []
        for name, sentence in zip((named.name, *named.aliases), said, strict=True):
            node_of_name = {**node, "aliases": [name] if name != node["name"] else []}
            candidate = Candidate(
                content=sentence[:MAX_VALUE_CHARS],
                key=name_key(node["label"], name),
                kind=Kind.ENTITY,
                category="name",
                data={"nodes": [node_of_name]},
                source=origin.source(named.span),
            )
            receipts.append(await self._write(candidate))
        return receipts

    async def _relate(
        self,
        relation: StatedRelation,
        names: Mapping[str, dict[str, Any]],
        same: MergedNodes,
        origin: StatementOrigin,
        idempotency_key: str | None = None,
    ) -> WriteReceipt | None:
        """Store the relation, or its end; None for the end of a relation that was not true. A relation of which only
        one exists at a time ends under every name of its source.
        """
        same = MergedNodes() if relation.relation == SAME_AS else same
        source, target = same.representative(names[relation.source]), same.representative(names[relation.target])
        single = rule_of(relation.relation).single
        own = key_of(source["node"], relation.relation, *(() if single else (target["node"],)))
        ends = [None] if single else same.group(target["node"])
        keys = [
            key_of(one, relation.relation, *([end] if end else []))
            for one in same.group(source["node"])
            for end in ends
        ]
        over = [key for key in keys if relation.ended or (single and key != own)]
        written = (
            []
            if relation.ended
            else [await self._write(relating(own, relation, source, target, origin), idempotency_key)]
        )
        for key in await self._holding(over, same.group(target["node"]) if relation.ended else None):
            again = None if idempotency_key is None else f"{idempotency_key}:{key}"
            written.append(
                await self._write(relating(key, replace(relation, ended=True), source, target, origin), again)
            )
        return written[0] if written else None

    async def _holding(self, keys: Sequence[str], targets: Collection[str] | None) -> list[str]:
        """Return the keys under which a relation is stored and current; with `targets` only those that lead to one of
        them.
        """
        if not keys:
            return []
        found = await self._engine.list(actor=self._actor, kinds=[Kind.ENTITY], keys=keys, limit=len(keys))
        targets_of = {memory.key: [one["target"] for one in memory.data.get("relations", ())] for memory in found}  # type: ignore[union-attr,index,call-overload]
        return [key for key in keys if any(targets is None or one in targets for one in targets_of.get(key, ()))]

    async def _write(self, candidate: Candidate, idempotency_key: str | None = None) -> WriteReceipt:
        return await self._engine.add(candidate, actor=self._actor, idempotency_key=idempotency_key)
