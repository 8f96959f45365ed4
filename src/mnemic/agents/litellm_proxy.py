"""LiteLLM proxy: a hook that injects into the chats which pass through it, and captures their users' messages.

`pip install "mnemic[litellm]"`. In `config.yaml`: `litellm_settings: {callbacks: my_memory.hook}`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from mnemic.agents.streams import piece_of, text_of
from mnemic.agents.turns import TurnMemory, latest_asks
from mnemic.engine import MemoryEngine
from mnemic.inject import InjectionConfig, MemorySource
from mnemic.inject.messages import is_user_turn
from mnemic.plugins.extras import brought_by
from mnemic.types import Actor

with brought_by("litellm"):
    from litellm.integrations.custom_logger import CustomLogger

ActorOf = Callable[[Any], Actor | None]
"""Returns the actor of LiteLLM's `UserAPIKeyAuth`; None: no memory for this call."""

_CHATS = frozenset({"completion", "acompletion"})
_ACTORS = 1_000
_CALLS = 10_000


def user_of_key(key: Any) -> Actor | None:
    """Return the user that the virtual key belongs to. The `user` of a request is the caller's word, and not read."""
    return None if not key.user_id else Actor(user=key.user_id)


class MnemicHook(CustomLogger):  # type: ignore[misc]
    """Memory for the users of a LiteLLM proxy, with any client.

        hook = MnemicHook(engine)

    The key determines the actor (`actor_of`), never the request. The block is in the call to the model alone. The
    user's message is captured once the model has answered, of a stream when it begins; the answer of a stream is stored
    with the question when it has ended. An outage stops no call.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        config: InjectionConfig | None = None,
        *,
        actor_of: ActorOf = user_of_key,
        sources: Sequence[MemorySource] = (),
    ) -> None:
        super().__init__()
        self._engine, self._config, self._sources = engine, config, sources
        self._actor_of = actor_of
        self._memories: OrderedDict[Actor, TurnMemory] = OrderedDict()
        # A call's id is the caller's word (the header `x-litellm-call-id`): two users may give the same one.
        self._open: OrderedDict[tuple[Actor, str], list[str]] = OrderedDict()
        self._streams: OrderedDict[tuple[Actor, str], list[str]] = OrderedDict()

    def memory_of(self, actor: Actor) -> TurnMemory:
        """Return the memory of one user; the least recently used of too many are let go."""
        if actor not in self._memories:
            self._memories[actor] = TurnMemory(self._engine, actor, self._config, sources=self._sources, by="litellm")
        self._memories.move_to_end(actor)
        if len(self._memories) > _ACTORS:
            self._memories.popitem(last=False)
        return self._memories[actor]

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: Any
    ) -> dict[str, Any]:
        """Put the block into the messages of a chat."""
        actor = self._actor_of(user_api_key_dict)
        messages = data.get("messages")
        if actor is None or call_type not in _CHATS or not isinstance(messages, list):
            return data
        memory = self.memory_of(actor)
        injection = await memory.inject(messages)
        said = latest_asks(messages, actor.user) if is_user_turn(messages) else []
        streams = bool(data.get("stream"))
        if streams:
            await memory.capture(*said)
        if said and (call := data.get("litellm_call_id")):
            waiting = self._streams if streams else self._open
            waiting[actor, call] = said
            if len(waiting) > _CALLS:
                waiting.popitem(last=False)
        return {**data, "messages": list(injection.messages)}

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
        """Capture the user's message, which the model has answered."""
        actor = self._actor_of(user_api_key_dict)
        said = [] if actor is None else self._open.pop((actor, data.get("litellm_call_id", "")), [])
        if actor is not None and said:
            await self.memory_of(actor).capture(*said, answer=text_of(response))
        return response

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        """Pass the pieces of a stream on, and store the answer when it has ended."""
        pieces: list[str] = []
        async for piece in response:
            pieces.append(piece_of(piece))
            yield piece
        actor = self._actor_of(user_api_key_dict)
        said = [] if actor is None else self._streams.pop((actor, request_data.get("litellm_call_id", "")), [])
        if actor is not None and said:
            await self.memory_of(actor).record_answer(*said, answer="".join(pieces) or None)
