"""Judges of a new statement and known ones, asked before any transaction is open, with redacted texts only.

An optional language model labels the statement against its neighbours: those that it calls the same do not end each
other; one that it calls the opposite of a known one, and that bears on it, takes its place. The embedder's judge of
changes reads a statement with those that its proposer says it replaces; it knows English alone, and no questions. What
is in other languages, and not plain by its words, a language model translates for it, without being told what for. If a
judge fails or is not sure, the words decide alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from mnemic.errors import EmbedderFailed, MnemicError, ModelInvalidSchema
from mnemic.language.comparison import are_in_english
from mnemic.policy.proposal_check import list_in, parse_json
from mnemic.ports import Completer, Embedder, JudgesChanges, RecordStore, Snapshot
from mnemic.ports.providers import count_calls
from mnemic.prompts import judge_prompt, translation_prompt
from mnemic.types import Deadline, Memory, Where
from mnemic.write.decide import words_bear_out
from mnemic.write.draft import Draft

MAX_JUDGED = 8
"""Number of memories that the judge compares with one write."""
LONGEST_WAIT = timedelta(seconds=10)
JUDGES_SHARE = 0.5
"""Share of a write's remaining time for the judge of all its statements: what it judges is to be written, too."""
MAX_TRANSLATED = 2_000
"""Characters of one translation."""
NOMINATED_FROM = 0.6
"""The cosine from which a memory is shown to the judge."""

_log = logging.getLogger("mnemic.write.model_judge")


class Verdict(StrEnum):
    """Relation of one statement to another."""

    SAME = "same"
    OPPOSITE = "opposite"
    OTHER = "other"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One verdict per known statement, in order, and the cost of the call."""

    verdicts: tuple[Verdict, ...]
    tokens: int = 0


class Judge(Protocol):
    """Labels a new statement against known statements."""

    async def judge(self, said: str, known: Sequence[str], *, deadline: Deadline | None = None) -> Judgement:
        """One verdict for each of `known`. Raises ModelFailed in its kinds; never called inside a transaction."""


class Translator(Protocol):
    """Translates short texts into English."""

    async def translate(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[str]:
        """One text for each of `texts`. Raises ModelFailed in its kinds; never called inside a transaction."""


@dataclass(frozen=True, slots=True)
class ModelJudge:
    """Asks a language model, no longer than `longest_wait`."""

    completer: Completer
    monotonic: Callable[[], float] = field(repr=False)
    longest_wait: timedelta = LONGEST_WAIT

    async def judge(self, said: str, known: Sequence[str], *, deadline: Deadline | None = None) -> Judgement:
        """Return the model's verdicts. Raises ModelFailed: `llm_timeout`, `llm_unavailable`, `llm_empty`,
        `llm_invalid_json`, or `llm_invalid_schema` for anything but one verdict for each statement.
        """
        # The shorter of both: a write waits for its judge no longer than its caller waits for the write.
        soonest = _soonest(Deadline.after(self.longest_wait, self.monotonic), deadline)
        completion = await count_calls(self.completer).complete(judge_prompt(said, known), deadline=soonest)
        verdicts = _verdicts(parse_json(completion.text), len(known))
        return Judgement(verdicts=verdicts, tokens=completion.input_tokens + completion.output_tokens)


@dataclass(frozen=True, slots=True)
class ModelTranslator:
    """Asks a language model for English, no longer than `longest_wait`."""

    completer: Completer
    monotonic: Callable[[], float] = field(repr=False)
    longest_wait: timedelta = LONGEST_WAIT

    async def translate(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[str]:
        """Return each of `texts` in English. Raises ModelFailed as `ModelJudge` does."""
        soonest = _soonest(Deadline.after(self.longest_wait, self.monotonic), deadline)
        completion = await count_calls(self.completer).complete(translation_prompt(texts), deadline=soonest)
        answers = list_in(parse_json(completion.text), "english") or []
        english = [one for one in answers if isinstance(one, str) and len(one) <= MAX_TRANSLATED]
        if len(english) != len(texts):
            raise ModelInvalidSchema(hint="one translation for each text")
        return english


def _soonest(one: Deadline, other: Deadline | None) -> Deadline:
    return one if other is None or one.expires_at < other.expires_at else other


def _verdicts(answer: object, wanted: int) -> tuple[Verdict, ...]:
    answers = list_in(answer, "verdicts")
    if answers is None or len(answers) != wanted:
        raise ModelInvalidSchema(hint="one verdict for each statement")
    # A word that is no verdict says nothing about its statement, and leaves the others theirs.
    words = [one.strip().casefold() if isinstance(one, str) else "" for one in answers]
    return tuple(Verdict(one) if one in tuple(Verdict) else Verdict.UNSURE for one in words)


async def judge_near(draft: Draft, judge: Judge, store: RecordStore, deadline: Deadline | None) -> None:
    """Give the draft a verdict on each memory near it that could be merged with it; a failure gives `unsure`."""
    draft.timer.note("judge", await _ask_judge(draft, judge, store, deadline))


async def judge_changes(
    drafts: Sequence[Draft],
    embedder: Embedder,
    store: RecordStore,
    translator: Translator | None,
    deadline: Deadline | None,
) -> None:
    """Give the drafts the odds that they end or replace what their proposers name, if the embedder can tell."""
    naming = [one for one in drafts if one.candidate.replaces]
    if not naming or not isinstance(embedder, JudgesChanges):
        return
    for draft in naming:
        candidate = draft.candidate
        known = await store.get_many(candidate.replaces[:MAX_JUDGED], scopes=[draft.scope])
        said = candidate.source.quote or candidate.content
        if said.rstrip().endswith("?"):
            continue
        pairs = {one.memory_id: (one.source.quote or one.content, said) for one in known.values()}
        read = {one: pair for one, pair in pairs.items() if are_in_english(*pair)}
        unread = [one for one in pairs if one not in read and not words_bear_out(known[one], candidate)]
        if unread and translator is not None:
            draft.in_english = await _translate(translator, {one: pairs[one] for one in unread}, deadline)
        read |= draft.in_english
        with suppress(EmbedderFailed):
            odds = await embedder.judge_changes(list(read.values()), deadline=deadline) if read else []
            draft.changes = dict(zip(read, odds, strict=True))


async def _translate(
    translator: Translator, pairs: Mapping[str, tuple[str, str]], deadline: Deadline | None
) -> dict[str, tuple[str, str]]:
    """Return the pairs in English, without those that did not become it; none if the model fails."""
    texts = sorted({text for pair in pairs.values() for text in pair})
    within = None if deadline is None else deadline.share(JUDGES_SHARE)
    try:
        english = dict(zip(texts, await translator.translate(texts, deadline=within), strict=True))
    except MnemicError as failure:
        _log.info("what a model proposed could not be translated: %s", failure.reason)
        return {}
    translated = {one: (english[known], english[said]) for one, (known, said) in pairs.items()}
    return {one: pair for one, pair in translated.items() if are_in_english(*pair)}


async def _ask_judge(draft: Draft, judge: Judge, store: RecordStore, deadline: Deadline | None) -> str:
    if draft.vector is None or draft.candidate.key is not None or draft.spec.append_only or draft.review_reason:
        return "not_asked"
    nominated = await _mergeable_memories(draft, store)
    if not nominated:
        return "none_near"
    if deadline is not None and deadline.expired:
        draft.verdicts = {one.memory_id: Verdict.UNSURE for one in nominated}
        return "no_time"
    try:
        found = await judge.judge(draft.candidate.content, [one.content for one in nominated], deadline=deadline)
        verdicts, result = found.verdicts, f"{len(nominated)} asked, {found.tokens} tokens"
    except MnemicError as error:
        verdicts, result = (Verdict.UNSURE,) * len(nominated), error.reason
    draft.verdicts = {one.memory_id: verdict for one, verdict in zip(nominated, verdicts, strict=True)}
    return result


async def _mergeable_memories(draft: Draft, store: RecordStore) -> list[Memory]:
    candidate, vector = draft.candidate, draft.vector
    assert vector is not None
    where = Where(scopes=(draft.scope,), kinds=frozenset({candidate.kind}), live_at=draft.now)

    async def look(snapshot: Snapshot) -> list[Memory]:
        near = await snapshot.nearest(where, vector, limit=MAX_JUDGED)
        wanted = [one.memory_id for one in near if one.score > NOMINATED_FROM]
        return list((await snapshot.get_many(wanted, scopes=where.scopes)).values())

    return [
        memory
        for memory in await store.read(look)
        if memory.key is None
        and memory.fingerprint != draft.fingerprint
        and memory.category == candidate.category
        and memory.source.speaker == candidate.source.speaker
    ]
