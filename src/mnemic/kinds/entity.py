"""Entity memory: who and what the user speaks of, how they stand to each other, and since when.

Every name and every relation is a memory of its own, under a key that no other has: it passes guard and write path, can
be reviewed, corrected and erased, and its history stays. The graph is made of these memories and can be made again.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from mnemic.errors import InvalidInput, NotSupported, StoreFailed
from mnemic.extract.entities import ME, ROLE, EntityReader, Named, Told
from mnemic.extract.entities.model import ModelEntityReader
from mnemic.extract.entities.relations import LABELS, THING, USER, rule_of
from mnemic.extract.entities.rules import RuleEntityReader
from mnemic.face import Ground, M, verb
from mnemic.kinds.view import EngineVerbs, KindView
from mnemic.ports.graph import GraphStore
from mnemic.text.names import core, slug
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
    Source,
    WriteReceipt,
)

MAX_NAME_CHARS = 80
_MAX_KEY_CHARS = 128
_MAX_VALUE_CHARS = 120
_ADDRESS = frozenset("@\n\t/\\")
_MOST_DIGITS = 4
READING_TIME = timedelta(seconds=25)
"""How long a model may take to read one text: the time of a whole turn."""
_log = logging.getLogger("mnemic.kinds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What was remembered of a text: a receipt for each name and relation, in order, and how many relations were left
    out because nobody could be found who was meant ("my sister", of whom nothing is known).
    """

    receipts: tuple[WriteReceipt, ...] = ()
    unresolved: int = 0
    skipped: tuple[str, ...] = field(default=())


class EntityMemory(KindView[M]):
    """The people, places and things of one user. Nothing is shared: two users who speak of one café have one each.

    A name stands for one thing of a kind, whatever its case, accents, titles and legal forms; other names are told by
    `mention(name, aliases=...)` or read from texts ("Robert, also known as Bob"). Names are never guessed to be one.
    """

    def __init__(
        self, engine: EngineVerbs, actor: Actor, ground: Ground[M], *, reader: EntityReader | None = None
    ) -> None:
        super().__init__(engine, actor, ground)
        self._reader = reader or (ModelEntityReader(engine.completer) if engine.completer else RuleEntityReader())

    # -- telling ------------------------------------------------------------------------------------------------------

    @verb
    async def mention(self, name: str, *, label: str = THING, aliases: Sequence[str] = ()) -> Sequence[WriteReceipt]:
        """Remember that there is something of this name, and its other names: one receipt each. Mentioned again, it is
        only refreshed.

        Raises InvalidInput (`invalid_input:name`, `:label`).
        """
        named = Named(name=name, label=label, aliases=tuple(aliases))
        names, _ = await self._resolved([named])
        return await self._mention(named, names, _Origin(self._actor))

    @verb
    async def relate(
        self,
        source: str,
        relation: str,
        target: str,
        *,
        since: datetime | None = None,
        idempotency_key: str | None = None,
    ) -> WriteReceipt:
        """Remember that `source` (a name, or "me") stands in `relation` (`works_at`, any lower-case word) to `target`.

        What can be only one at a time (employer, home, spouse) ends what was there: the graph keeps it as history.
        Raises InvalidInput (`invalid_input:name`, `:relation`).
        """
        told = Told(source=_me_or(source), relation=relation, target=_me_or(target), since=since)
        origin = _Origin(self._actor)
        names, new = await self._resolved(_ends(told))
        for named in new:
            await self._mention(named, names, origin)
        written = await self._relate(told, names, origin, idempotency_key)
        assert written is not None
        return written

    @verb
    async def end(self, source: str, relation: str, target: str) -> WriteReceipt | None:
        """Remember that the relation holds no more; None where it was not known to hold."""
        told = Told(source=_me_or(source), relation=relation, target=_me_or(target), ended=True)
        names, _ = await self._resolved(_ends(told))
        return await self._relate(told, names, _Origin(self._actor), None)

    @verb
    async def extract(self, text: str | Message, *, idempotency_key: str | None = None) -> Extracted:
        """Remember who and what a text of the user's names and how they stand to each other ("my sister Ana works at
        Siemens in Berlin"). What is asked, supposed, quoted or said by others tells nothing. With a language model
        configured it reads, else rules do. Raises ModelFailed.
        """
        message = Message(role="user", content=text, session=self._actor.session) if isinstance(text, str) else text
        deadline = Deadline.after(READING_TIME, self._engine.clock.monotonic)
        reading = await self._reader.read(message, deadline=deadline)
        origin = _Origin(self._actor, message)
        kept = [named for named in reading.named if _is_name(named.name)]
        names, _ = await self._resolved(kept)
        receipts: list[WriteReceipt] = []
        for named in kept:
            receipts += await self._mention(named, names, origin)
        unresolved = 0
        for number, told in enumerate(reading.told):
            meant = await self._meant(told, names)
            if meant is None:
                unresolved += 1
                continue
            key = None if idempotency_key is None else f"{idempotency_key}:{number}"
            written = await self._relate(meant, names, origin, key)
            receipts += [written] if written is not None else []
        skipped = tuple(one.reason for one in reading.skipped)
        return Extracted(receipts=tuple(receipts), unresolved=unresolved, skipped=skipped)

    # -- asking -------------------------------------------------------------------------------------------------------

    @verb
    async def of_user(self, label: str | None = None, *, limit: int = 50) -> Sequence[Node]:
        """What the user has spoken of, last first; with a label only people, places, ... Raises StoreFailed."""
        return [node for node in await self._graph.nodes(self._scope, label=label, limit=limit) if node.label != USER]

    @verb
    async def neighbours(
        self, name: str = "me", *, hops: int = 1, at: datetime | None = None, limit: int = 50
    ) -> Sequence[Neighbour]:
        """What is within `hops` (1 to 6) relations of `name` now, or `at` another time; nearest first, each with the
        way there. Empty where nothing of that name is known.
        """
        node = await self._known(name)
        if node is None:
            return []
        moment = at or self._engine.clock.now()
        return await self._graph.neighbours(self._scope, node["node"], hops=hops, at=moment, limit=limit)

    @verb
    async def path(
        self, source: str, target: str, *, hops: int = 4, at: datetime | None = None
    ) -> Sequence[Relation] | None:
        """The shortest way from one to the other now, or `at` another time; None where there is none."""
        one, other = await self._known(source), await self._known(target)
        if one is None or other is None:
            return None
        moment = at or self._engine.clock.now()
        return await self._graph.path(self._scope, one["node"], other["node"], hops=hops, at=moment)

    # -- who is who ---------------------------------------------------------------------------------------------------

    @property
    def _graph(self) -> GraphStore:
        if self._engine.graph is None:
            raise NotSupported("graph", hint="the engine was built without a graph")
        return self._engine.graph

    @property
    def _scope(self) -> Any:
        return self._actor.scope(Level.USER)

    async def _known(self, name: str) -> dict[str, Any] | None:
        """The one thing of this name, or None. Of several kinds, the one that was written last."""
        if _me_or(name) == ME:
            return _ME_NODE
        found = await self._held([name])
        return _node_of(found[0]) if found else None

    async def _held(self, names: Collection[str]) -> list[Memory]:
        """The memories that say who is called so, newest first."""
        keys = [_name_key(label, name) for name in names for label in sorted(LABELS)]
        if not keys:
            return []
        found = await self._engine.list(actor=self._actor, kinds=[Kind.ENTITY], keys=keys, limit=len(keys))
        return sorted(found, key=lambda memory: memory.updated_at, reverse=True)

    async def _resolved(self, named: Sequence[Named]) -> tuple[dict[str, dict[str, Any]], list[Named]]:
        """Who is meant by each name, somebody known or somebody new; and those that are new. A kind that was not said
        fits every kind, and what was known without a kind gets the one that is said now.
        """
        for one in named:
            _check_name(one)
        said = {one.name: one.label for one in named if one.name != ME}
        said |= {alias: one.label for one in named for alias in one.aliases}
        known: dict[tuple[str, str], dict[str, Any]] = {}
        by_key = {memory.key: memory for memory in await self._held(said)}
        for name in said:
            for label in LABELS:
                memory = by_key.get(_name_key(label, name))
                node = _node_of(memory) if memory is not None else None
                if node is not None:
                    known[name, label] = node
        others = [one for one in named if one.name != ME]
        chosen = {ME: _ME_NODE} | {one.name: _chosen(one, known) for one in others}
        held = {node["node"] for node in known.values()}
        return chosen, [one for one in others if chosen[one.name]["node"] not in held]

    async def _meant(self, told: Told, names: Mapping[str, dict[str, Any]]) -> Told | None:
        """`told` with "my sister" replaced by who that is; None where nobody or more than one is known."""
        source = await self._in_role(told.source, names)
        target = await self._in_role(told.target, names)
        if source is None or target is None:
            return None
        return replace(told, source=source, target=target)

    async def _in_role(self, end: str, names: Mapping[str, dict[str, Any]]) -> str | None:
        if not end.startswith(ROLE):
            return end if end in names else None
        relation = end.removeprefix(ROLE)
        now = self._engine.clock.now()
        try:
            around = await self._graph.neighbours(self._scope, _ME_NODE["node"], at=now, limit=200)
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

    async def _mention(self, named: Named, names: Mapping[str, dict[str, Any]], origin: _Origin) -> list[WriteReceipt]:
        node = names[named.name]
        said = [f"{node['name']} ({node['label']})"]
        said += [f"{alias} is another name of {node['name']}" for alias in named.aliases]
        receipts = []
        for name, sentence in zip((named.name, *named.aliases), said, strict=True):
            held = {**node, "aliases": [name] if name != node["name"] else []}
            candidate = Candidate(
                content=sentence[:_MAX_VALUE_CHARS],
                key=_name_key(node["label"], name),
                kind=Kind.ENTITY,
                category="name",
                data={"nodes": [held]},
                source=origin.source(named.span),
            )
            receipts.append(await self._engine.add(candidate, actor=self._actor))
        return receipts

    async def _relate(
        self, told: Told, names: Mapping[str, dict[str, Any]], origin: _Origin, idempotency_key: str | None
    ) -> WriteReceipt | None:
        source, target = names[told.source], names[told.target]
        rule = rule_of(told.relation)
        key = _key(source["node"], told.relation, *(() if rule.single else (target["node"],)))
        if told.ended and not await self._holds(key, target["node"]):
            return None
        sentence = rule.sentence(source["name"], target["name"])
        relation = Relation(source=source["node"], relation=told.relation, target=target["node"])
        held = {"source": relation.source, "relation": relation.relation, "target": relation.target}
        candidate = Candidate(
            content=_value(f"No longer: {sentence}" if told.ended else sentence, target["name"]),
            key=key,
            kind=Kind.ENTITY,
            category="relation",
            data={
                "nodes": [source] if source == target else [source, target],
                "relations": [] if told.ended else [held],
            },
            source=origin.source(told.span),
            valid_from=told.since,
            occurred_at=None if told.since else origin.sent_at,
        )
        return await self._engine.add(candidate, actor=self._actor, idempotency_key=idempotency_key)

    async def _holds(self, key: str, target: str) -> bool:
        found = await self._engine.list(actor=self._actor, kinds=[Kind.ENTITY], keys=[key], limit=1)
        return any(one.get("target") == target for memory in found for one in memory.data.get("relations", ()))  # type: ignore[union-attr]


_ME_NODE: dict[str, Any] = {"node": f"{USER}:me", "name": "the user", "label": USER}


@dataclass(frozen=True, slots=True)
class _Origin:
    """Where what is written comes from."""

    actor: Actor
    message: Message | None = None

    @property
    def sent_at(self) -> datetime | None:
        return None if self.message is None else self.message.sent_at

    def source(self, span: tuple[int, int] | None) -> Source:
        if self.message is None:
            return Source(session=self.actor.session)
        quote = self.message.content[span[0] : span[1]] if span is not None else None
        return Source(
            origin=self.message.origin,
            ref=self.message.message_id,
            session=self.message.session or self.actor.session,
            quote=quote,
            span=span if quote else None,
        )


def _chosen(named: Named, known: Mapping[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    spellings = (named.name, *named.aliases)
    same = [known[name, named.label] for name in spellings if (name, named.label) in known]
    loose = [known[name, label] for name in spellings for label in sorted(LABELS) if (name, label) in known]
    distinct = {node["node"]: node for node in loose}
    if same:
        return same[0]
    if named.label == THING and len(distinct) == 1:
        return loose[0]
    if (named.name, THING) in known:
        return {**known[named.name, THING], "label": named.label}
    return {"node": f"{named.label}:{slug(named.name, named.label)}", "name": named.name, "label": named.label}


def _node_of(memory: Memory) -> dict[str, Any] | None:
    nodes: Any = memory.data.get("nodes") or ()
    return {name: nodes[0][name] for name in ("node", "name", "label")} if nodes else None


def _ends(told: Told) -> list[Named]:
    rule = rule_of(told.relation)
    return [Named(name=told.source, label=rule.source), Named(name=told.target, label=rule.target)]


def _me_or(name: str) -> str:
    return ME if isinstance(name, str) and name.strip().casefold() in ("me", "the user") else name


def _is_name(name: str) -> bool:
    return (
        isinstance(name, str)
        and 0 < len(name.strip()) <= MAX_NAME_CHARS
        and not _ADDRESS & set(name)
        and sum(c.isdigit() for c in name) <= _MOST_DIGITS
        and bool(core(name, THING))
    )


def _check_name(named: Named) -> None:
    if named.label not in LABELS and named.name != ME:
        raise InvalidInput("label", hint=f"one of {', '.join(sorted(LABELS))}")
    for name in (named.name, *named.aliases):
        if name != ME and not _is_name(name):
            raise InvalidInput("name", hint=f"a name of at most {MAX_NAME_CHARS} characters; no address, no number")


def _name_key(label: str, name: str) -> str:
    return _key(f"{label}:{slug(name, label)}")


def _key(*parts: str) -> str:
    """`entity:` and the parts. Nodes are short enough for two of them and a relation of usual length."""
    key = ":".join(("entity", *parts))
    return key if len(key) <= _MAX_KEY_CHARS else f"{key[: _MAX_KEY_CHARS - 10]}{slug(key, THING)[-9:]}"


def _value(sentence: str, name: str) -> str:
    return sentence if len(sentence) <= _MAX_VALUE_CHARS else name
