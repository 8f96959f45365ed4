"""The seven kinds of one actor's memory, and the verbs that work across them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from mnemic.kinds.entity import EntityMemory
from mnemic.kinds.episodic import EpisodicMemory
from mnemic.kinds.long_term import LongTermMemory
from mnemic.kinds.persona import PersonaMemory
from mnemic.kinds.retrieval import MemoryHomes
from mnemic.kinds.short_term import ShortTermMemory
from mnemic.kinds.view import KindView
from mnemic.kinds.working import WorkingMemory
from mnemic.plugins.extras import brought_by
from mnemic.requests import NewMemory
from mnemic.runtime.sync_facade import CallMode, M, async_mode
from mnemic.types import Actor, Candidate, Kind, Level, Memory, Message, Outcome, WriteReceipt
from mnemic.types.memory_kinds import CATALOG, Home, kind_of
from mnemic.types.scope import new_id

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine
    from mnemic.kinds.persona import Profile
    from mnemic.kinds.retrieval import KindRetrieval
    from mnemic.structured.structured_memory import StructuredMemory


class SevenKinds(KindView[M]):
    """One view of each kind, and the verbs that go across them."""

    def __init__(
        self,
        engine: MemoryEngine,
        actor: Actor,
        call_mode: CallMode[M],
        *,
        profile: Profile | None = None,
    ) -> None:
        super().__init__(engine, actor, call_mode)
        self._profile = profile

    @cached_property
    def working(self) -> WorkingMemory:
        """Scratch values of one task."""
        return WorkingMemory()

    @cached_property
    def short_term(self) -> ShortTermMemory[M]:
        """The messages of the session."""
        return ShortTermMemory(self._engine, self._actor, self.call_mode)

    @cached_property
    def long_term(self) -> LongTermMemory[M]:
        """Facts and preferences."""
        return LongTermMemory(self._engine, self._actor, self.call_mode)

    @cached_property
    def persona(self) -> PersonaMemory[M]:
        """Memory of the agent's identity."""
        return PersonaMemory(self._engine, self._actor, self.call_mode, profile=self._profile)

    @cached_property
    def episodic(self) -> EpisodicMemory[M]:
        """Memory of the agent's actions and their outcomes."""
        return EpisodicMemory(self._engine, self._actor, self.call_mode)

    @cached_property
    def entity(self) -> EntityMemory[M]:
        """Memory of the people and things that the user speaks of."""
        return EntityMemory(self._engine, self._actor, self.call_mode)

    @cached_property
    def structured(self) -> StructuredMemory[M]:
        """Data of a known shape. Raises MissingExtra (`missing_extra:structured`)."""
        with brought_by("structured"):
            from mnemic.structured.structured_memory import StructuredMemory
        return StructuredMemory(self._engine, self._actor, self.call_mode)

    async def add(self, content: str | Candidate, kind: Kind | str = Kind.LONG_TERM, **given: Any) -> WriteReceipt:
        """Remember one thing in the memory of its kind, at the level of the kind unless another is given; `given` are
        the fields of `NewMemory`.

        `working`: set, redacted, under `key`, or under a new one that the receipt names. `short_term`: a message of the
        user's; for these two the receipt is not durable and the other arguments mean nothing. `entity`: all that the
        text names and tells (`EntityMemory.extract`), with the receipt of the first; a text that names nothing is kept
        as it is. All others: `MemoryEngine.add`. `ttl`: how long, as a duration or as `30d`, `10y`, `never`.
        """
        request = NewMemory(content, kind, **given)
        chosen = content.kind if isinstance(content, Candidate) else kind_of(request.kind)
        home = CATALOG[chosen].home
        if home is not Home.RECORDS:
            text = content.content if isinstance(content, Candidate) else content
            return await self._keep(text, home, request.key)
        # A text with a key or data is one statement that the caller has already read; extraction would split it.
        if chosen is Kind.ENTITY and isinstance(content, str) and request.key is None and request.data is None:
            receipts = await self._extract_entities(content, request.idempotency_key)
            if receipts:
                return receipts[0]
        return await self._engine.handle(request, actor=self._actor)

    async def retrieve(
        self, query: str, kinds: Sequence[Kind | str] | None = None, *, top_k: int = 10
    ) -> KindRetrieval:
        """Return the best `top_k` (1 to 100) results for `query` across `kinds` (None: all seven), best first.

        Each home is searched separately: the store with one search over all requested kinds (by meaning and words), and
        the working values, the session's messages and the agent's traits by words. The lists are joined by reciprocal
        rank fusion (k = 60), so scores of different lists are never compared; ties go to the home that is closer to the
        task: working, short_term, the store, persona. A home that fails is named in `errors` and the others still
        answer; if all fail, the first failure is raised.
        """
        homes = MemoryHomes(self._engine, self._actor, self.working, self._messages, self._traits)
        return await homes.retrieve_kinds(query, kinds, top_k)

    # -- add ----------------------------------------------------------------------------------------------------------

    async def _extract_entities(self, content: str, idempotency_key: str | None) -> Sequence[WriteReceipt]:
        view = EntityMemory(self._engine, self._actor, async_mode())
        return (await view.extract(content, idempotency_key=idempotency_key)).receipts

    async def _keep(self, content: str, home: Home, key: str | None) -> WriteReceipt:
        if home is Home.PROCESS:
            key = key or new_id(self._engine.clock.now())
            # Redacted here, since working memory does not pass the write path.
            self.working.set(key, await self._engine.redact_text(content, actor=self._actor))
        else:
            await self._remember_said(content)
        return WriteReceipt(outcome=Outcome.CREATED, key=key, level=Level.SESSION, durable=False)

    async def _remember_said(self, content: str) -> None:
        await ShortTermMemory(self._engine, self._actor, async_mode()).append("user", content)

    # -- retrieve -----------------------------------------------------------------------------------------------------

    async def _messages(self, limit: int) -> Sequence[Message]:
        if self._engine.sessions is None:
            return []
        return await self._engine.sessions.tail(self._actor.scope(Level.SESSION), limit=limit)

    async def _traits(self) -> Sequence[Memory]:
        return await PersonaMemory(self._engine, self._actor, async_mode()).traits()
