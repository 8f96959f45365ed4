"""What a process does once, and no call waits for on its event loop: it reads the tables of the languages, compiles
the expressions of its readers and loads the models.

An engine reads the tables as it is opened. A service does the rest as it starts; where nothing did, the
first call that reads a text waits for it, in a thread, and the loop stays free.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable
from contextlib import suppress

from mnemic.errors import EmbedderFailed
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.language.lexicon import language_shares, no_places
from mnemic.language.sentences.answers import question_of
from mnemic.language.sentences.requests_about_memory import asked_of_memory
from mnemic.language.sentences.speaker_labels import speaker_spans
from mnemic.language.sentences.special_topics import special_topics
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.ports import Embedder, ModelLoading
from mnemic.retrieve.preference_relevance import ParsedRequest
from mnemic.types import Message

_DONE = threading.Event()
"""Set once the expressions are there; making them takes a third of a second."""
_STATED = "I moved to Oslo on 3 May. I am vegetarian, and my sister works as a nurse."


def read_tables() -> None:
    """Read the tables that are files. Not for an event loop."""
    language_shares(())
    no_places()
    speaker_spans("Ana: I swim.")
    special_topics("")
    question_of("Where?")


def loading(embedder: Embedder) -> Awaitable[None] | None:
    """Return what the first call of the process waits for, None once it is there. Raises EmbedderFailed."""
    model = embedder if isinstance(embedder, ModelLoading) and not embedder.loaded else None
    return None if model is None and _DONE.is_set() else _load(model)


async def wait_until_loaded(embedder: Embedder) -> None:
    """Wait for what the first call of the process needs, so that no time of its own is spent on it. A model that cannot
    be loaded fails where it is asked.
    """
    if (models := loading(embedder)) is not None:
        with suppress(EmbedderFailed):
            await models


async def _load(model: ModelLoading | None) -> None:
    await expressions_compiled()
    if model is not None:
        await model.warm()


async def expressions_compiled() -> None:
    """Wait until the expressions of the readers are compiled."""
    if not _DONE.is_set():
        await asyncio.to_thread(_read_samples)


def _read_samples() -> None:
    read_tables()
    ParsedRequest.from_text("What could I cook for my sister on Sunday?")
    asked_of_memory(_STATED)
    asyncio.run(_extract())
    _DONE.set()


async def _extract() -> None:
    budget = Budget()
    stated = Message(role="user", content=_STATED)
    await RuleExtractor().extract(stated, policy=Policy(), budget=budget, deadline=budget.deadline(time.monotonic))
