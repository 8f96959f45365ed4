"""Words that mean little alone and something beside a known statement: "920 from january", after "My rent is 840";
"Signora Rizzo gives me the lessons these days", after "My teacher is Signor Baldi".

They are kept with the subject of that statement, so that they can be found and understood alone. What they end is the
write path's to decide; only a correction of what was just said ("sorry, the 21st") names what it replaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mnemic.dispatch.gateway import MemoryGateway
from mnemic.errors import EmbedderFailed, RunStopped, SpaceMismatch
from mnemic.extract import Extraction, is_users_own
from mnemic.extract.operations import source_of
from mnemic.extract.reading_thread import read_beside
from mnemic.extract.rule_extractor import readable
from mnemic.language.sentences.classify.classifier import Opinion, weights
from mnemic.language.sentences.clauses import sentences
from mnemic.language.sentences.disputes import without_dispute
from mnemic.language.sentences.exclusion_rules import asks, asks_or_orders, reports
from mnemic.language.sentences.general_knowledge_messages import speaks_of_self
from mnemic.language.sentences.later_words import corrects_itself, tells_end
from mnemic.language.sentences.unresolved_references import leans
from mnemic.language.text.analyse import terms
from mnemic.language.text.language import common_words, language_of
from mnemic.language.text.stated_values import StatedValue, values_in
from mnemic.policy.proposal_check import check_candidate
from mnemic.policy.statement_dates import timed
from mnemic.reason_codes import NOT_DURABLE, NOT_UNDERSTOOD, OPINION, QUOTED, THIRD_PARTY, TRANSIENT
from mnemic.retrieve.answer_judgement import reads_changes
from mnemic.types import BETWEEN_PEOPLE, Actor, Candidate, Deadline, Kind, Level, Memory, Message, Where
from mnemic.types.recall_limits import read

DOUBTFUL = frozenset({NOT_UNDERSTOOD, NOT_DURABLE, OPINION, TRANSIENT, THIRD_PARTY})
"""Reasons for leaving out a sentence that a statement near it may outweigh."""
NEAREST = 3
"""Number of the nearest statements that a sentence may be about."""
FAR, NEAR, VERY_NEAR = 0.18, 0.25, 0.35
"""Minimum cosine to a statement of the same session: if a sentence that is likely worth storing has another value of a
sort that the statement has; if any sentence has; if it has any other value, or a word of an end.
"""
STANDS_OUT = 0.08
"""Minimum distance in cosine of a statement of another session, below `VERY_NEAR`, from the next one: among a hundred
facts some are near by chance, and no nearer than others.
"""
NEAR_BETWEEN_PEOPLE = 0.5
"""The same between people, who say more that is not worth storing."""
LEAST_KEEP, LIKELY_KEEP = 0.1, 0.35
"""Minimum probability, by the classifier, of being worth storing, of a sentence near a statement and of another."""
REPLACES = 1.0
"""Logarithm of the odds, by the judge of changes, that a sentence replaces or ends a statement, for it to be kept."""
ASKS_FROM = 0.5
"""Probability, by the classifier, of a question, request or supposition from which a sentence is one."""
SHORT_WORDS = 20
"""Maximum number of words of a message that is one remark."""
FEW_WORDS = 2
"""Maximum number of words with content of a statement that says little without the one before it."""
MOST, LONGEST = 6, 400
"""Maximum number of sentences of one message that are considered, and of characters of each."""
LONGEST_SUBJECT = 200
"""Maximum number of characters of a statement that is added to a sentence about it."""
RECENT, CORRECTION_WORDS = 6, 12
"""Number of the latest statements of a session that a correction may be about, and its maximum number of words."""


@dataclass(frozen=True, slots=True)
class _Words:
    """A sentence that was left out, by its place in its message, or the candidate `made` of one that says little;
    `ordered`: it is worded as a request, and only counts if the judge of changes says so.
    """

    text: str
    span: tuple[int, int]
    made: Candidate | None = None
    ordered: bool = False


async def with_later_words(
    gateway: MemoryGateway, actor: Actor, message: Message, found: Extraction, *, deadline: Deadline
) -> Extraction:
    """`found` with the left-out sentences that add something to a known statement of the actor's; with `unknown` if
    they could not be embedded. Raises StoreFailed.
    """
    if not gateway.policy.allows_keyless or not is_users_own(message):
        return found
    corrected = await _find_corrections(gateway, actor, message, found)
    if corrected:
        return replace(found, candidates=corrected, skipped=())
    judged = reads_changes(gateway.searcher.embedder)
    words = await read_beside(message.content, lambda: [*_left_out(message, found, judged=judged), *_hollow(found)])
    # Most messages have no such words, and need neither vectors nor the store.
    if not words:
        return found
    try:
        vectors = await gateway.searcher.embedder.embed([one.text for one in words], deadline=deadline)
        told = await _told_apart(
            gateway, actor, words, vectors, message, between_people=found.between_people, deadline=deadline
        )
    # Best effort: the message itself is still captured, and the report names the failed look-up.
    except (EmbedderFailed, SpaceMismatch) as failure:
        return replace(found, unknown=failure.reason)
    marks = {BETWEEN_PEOPLE: True} if found.between_people else {}
    made = [(one, _candidate(gateway, message, one, known, marks)) for one, known in told]
    completed = {id(one.made): new for one, new in made if new is not None}
    new = [candidate for one, candidate in made if one.made is None and candidate is not None]
    kept = [one.source.span for one in new]
    return replace(
        found,
        candidates=(*(completed.get(id(one), one) for one in found.candidates), *new),
        skipped=tuple(one for one in found.skipped if not any(_covers(span, one.span) for span in kept)),
    )


def _left_out(message: Message, found: Extraction, *, judged: bool) -> list[_Words]:
    """Return the left-out sentences with a value or a word of an end that ask and order nothing, then, if changes are
    `judged`, those without.
    """
    text = message.content
    doubtful = [one.span for one in found.skipped if one.reason in DOUBTFUL and one.span and one.key is None]
    reported = [one.span for one in found.skipped if one.reason == QUOTED and one.span]
    taken = [one.source.span for one in found.candidates if one.source.span]
    words = []
    # A short message is one remark: the value in it is of what its other sentence says.
    whole = (
        not taken and len(text.split()) <= SHORT_WORDS and not any(one.reason not in DOUBTFUL for one in found.skipped)
    )
    parts = sentences(text) if doubtful or reported else []
    stating = [span for span in parts if not asks(text[slice(*span)])]
    own = readable(text) if reported else text
    for span in [(0, len(text))] if whole and parts and stating == parts else stating:
        said = text[slice(*span)]
        # "The shop says Monday" is the user's own report; a displayed text is not.
        told = _meets(span, reported) and reports(said) and own[slice(*span)] == said
        if not (told or _meets(span, doubtful)) or _meets(span, taken) or len(said) > LONGEST:
            continue
        words.append(_Words(said, span, ordered=asks_or_orders(said)))
    plain = [one for one in words if _has_sign(one)]
    return [*plain, *(one for one in words if judged and one not in plain)][:MOST]


def _has_sign(words: _Words) -> bool:
    """Return True for words with a value or a word of an end, which tell something new by themselves."""
    return bool(values_in(words.text)) or tells_end(words.text)


def _may_change(words: _Words, opinion: Opinion) -> bool:
    """Return True for a sentence that is worth judging."""
    asserts = words.made is None and opinion.keep >= LEAST_KEEP and opinion.share("question") < ASKS_FROM
    return asserts and _is_read_by_judge(words.text)


def _is_read_by_judge(text: str) -> bool:
    """Return True for English, which alone the judge of changes knows, and for texts too short to tell."""
    return language_of(text) in (None, "english")


def _hollow(found: Extraction) -> list[_Words]:
    """Return the candidates that have a value and hardly another word with content: "It's 11:15 now"."""
    return [
        _Words(one.content, one.source.span or (0, 0), one)
        for one in found.candidates
        if one.key is None and not one.replaces and len(one.content) <= LONGEST and values_in(one.content)
        if leans(one.content) or (not speaks_of_self(one.content) and len(_content_words(one.content)) <= FEW_WORDS)
    ][:MOST]


def _content_words(text: str) -> frozenset[str]:
    """Return the search terms of a text without those of its values and of words without content."""
    for value in reversed(values_in(text)):
        text = f"{text[: value.start]} {text[value.end :]}"
    return _all_words(text)


def _all_words(text: str) -> frozenset[str]:
    """Return the search terms of a text without words without content."""
    common = common_words("english") | common_words(language_of(text) or "english")
    words = (word.strip(".,!?:;()\"'").lower() for word in text.split())
    return frozenset(terms(" ".join(word for word in words if word not in common) or " "))


async def _told_apart(
    gateway: MemoryGateway,
    actor: Actor,
    words: Sequence[_Words],
    vectors: Sequence[bytes],
    message: Message,
    *,
    between_people: bool,
    deadline: Deadline,
) -> list[tuple[_Words, Memory]]:
    """Return the words that add something to a known statement, with the nearest such statement."""
    space = gateway.searcher.embedder.space
    points = np.stack([np.frombuffer(one, np.float32) for one in vectors]) if space.model == weights().space else None
    opinions = weights().opinions([one.text for one in words], points)
    where = await _known_filter(gateway, actor)
    told = []
    for one, vector, opinion in zip(words, vectors, opinions, strict=True):
        judged = reads_changes(gateway.searcher.embedder) and _may_change(one, opinion)
        if not judged and one.made is None and not _has_sign(one):
            continue
        near = await gateway.searcher.store.nearest(where, vector, limit=NEAREST, space=space)
        memories = await gateway.searcher.store.get_many([hit.memory_id for hit in near], scopes=where.scopes)
        about: list[Memory] = []
        for hit in near:
            memory, cosine = memories.get(hit.memory_id), read(space, hit.score)
            if memory is None or memory.author not in (None, actor.user):
                continue
            if cosine < (NEAR_BETWEEN_PEOPLE if between_people else FAR):
                continue
            same = message.session is not None and memory.source.session == message.session
            if (
                not same
                and cosine < VERY_NEAR
                and not _stands_out(memory, memories.values(), {each.memory_id: each.score for each in near}, hit.score)
            ):
                continue
            # An import that goes on meets statements that were made later.
            said_at, known_at = message.sent_at, memory.occurred_at
            if said_at is not None and known_at is not None and known_at >= said_at:
                continue
            if not one.ordered and _is_news(one, memory, cosine, opinion):
                told.append((one, memory))
                break
            if judged and (cosine >= NEAR or _has_sign(one)):
                about.append(memory)
        else:
            changed = await _find_changed(gateway, one, about, deadline=deadline)
            if changed is not None:
                told.append((one, changed))
    return told


async def _find_changed(
    gateway: MemoryGateway, words: _Words, about: Sequence[Memory], *, deadline: Deadline
) -> Memory | None:
    """Return the statement that words most likely end or replace, as the judge of changes reads them."""
    embedder = gateway.searcher.embedder
    if not about or not reads_changes(embedder) or not all(_is_read_by_judge(_statement(one)) for one in about):
        return None
    odds = await embedder.judge_changes([(_statement(one), words.text) for one in about], deadline=deadline)
    best = max(range(len(about)), key=lambda place: odds[place])
    return about[best] if odds[best] >= REPLACES else None


def _stands_out(known: Memory, near: Iterable[Memory], cosines: Mapping[str, float], cosine: float) -> bool:
    """Return True if a statement is clearly nearer than any with other words."""
    others = (one for one in near if not _is_same(_statement(one), _statement(known)))
    return all(cosine - cosines[one.memory_id] >= STANDS_OUT for one in others)


def _is_news(words: _Words, known: Memory, cosine: float, opinion: Opinion) -> bool:
    """Return True if words near a known statement give another value than it does, or an end of it."""
    before = values_in(_statement(known))
    new = _new_values(words.text, before)
    same_sort = bool({one.sort for one in new} & {one.sort for one in before})
    if words.made is not None:
        return same_sort and _content_words(words.text).isdisjoint(_content_words(_statement(known)))
    if _asks(opinion):
        return False
    ended = tells_end(words.text)
    named = ended and not _all_words(words.text).isdisjoint(_all_words(_statement(known)))
    if (same_sort or named) and opinion.keep >= (LEAST_KEEP if cosine >= NEAR else LIKELY_KEEP):
        return True
    return cosine >= VERY_NEAR and opinion.keep >= LIKELY_KEEP and (bool(new) or ended)


def _asks(opinion: Opinion) -> bool:
    return sum(map(opinion.share, ("question", "request", "hypothetical"))) >= ASKS_FROM


def _new_values(text: str, before: Sequence[StatedValue]) -> list[StatedValue]:
    known = {one.normal for one in before}
    return [one for one in values_in(text) if one.normal not in known]


def _candidate(
    gateway: MemoryGateway, message: Message, words: _Words, known: Memory, marks: dict[str, bool]
) -> Candidate | None:
    """Return a sentence with the subject of a known statement."""
    new = _new_values(words.text, values_in(_statement(known)))
    # An end that names the known thing says its subject itself: "Biscuit died".
    alone = not new and not _all_words(words.text).isdisjoint(_all_words(_statement(known)))
    subject = "" if alone else _subject(known, new)
    content = f"{without_dispute(words.text)} (earlier: {subject})" if subject else words.text
    if words.made is not None:
        return replace(words.made, content=content, context=_statement(known))
    return _check_words(gateway, message, words, content=content, context=_statement(known), data=marks)


def _statement(known: Memory) -> str:
    """Return the statement of a memory: of a value under a key that which it was read from."""
    if known.key is None:
        return known.content
    return known.context or known.source.quote or f"{known.key.replace('_', ' ')}: {known.content}"


def _subject(known: Memory, new: Sequence[StatedValue]) -> str:
    """Return a known statement without its values of the sorts of the `new` ones; empty if it is long."""
    text = _statement(known)
    if len(text) > LONGEST_SUBJECT:
        return ""
    sorts = {one.sort for one in new}
    for value in reversed(values_in(text)):
        if value.sort in sorts:
            text = f"{text[: value.start]}…{text[value.end :]}"
    return text.replace("… …", "…").rstrip(" .!")


async def _find_corrections(
    gateway: MemoryGateway, actor: Actor, message: Message, found: Extraction
) -> tuple[Candidate, ...]:
    """Return the statements of the same session that a short message corrects, with their new value."""
    text = message.content.strip()
    if message.session is None or len(text.split()) > CORRECTION_WORDS or any(one.key for one in found.candidates):
        return ()
    if not corrects_itself(text) or text.endswith("?"):
        return ()
    where = await _known_filter(gateway, actor)
    latest = [
        one
        for one in await gateway.searcher.store.newest(where, limit=RECENT)
        if one.source.session == message.session and one.author in (None, actor.user)
    ]
    groups = [[other for other in latest if _is_same(_statement(other), _statement(one))] for one in latest]
    # An earlier statement only if the correction names its value: "I meant Bram, not Bart".
    found_in = ((group, _find_swap(group, text, named=place > 0)) for place, group in enumerate(groups))
    group, swapped = next(((group, swap) for group, swap in found_in if swap is not None), ([], None))
    if swapped is None:
        return ()
    words = _Words(text, (0, len(message.content)))
    made = [
        _check_words(
            gateway, message, words, content=content, key=one.key, category=one.category,
            context=f"{text}\n{_statement(one)}", replaces=(one.memory_id,),
        )
        for one in group
        if (content := swapped.corrected_content(one)) is not None
    ]  # fmt: skip
    return tuple(one for one in made if one is not None)


@dataclass(frozen=True, slots=True)
class _Swap:
    """A value of a statement that a correction replaces."""

    old: str
    new: str

    def corrected_content(self, known: Memory) -> str | None:
        """Return the content of a memory of the statement with the new value; None if the value is not of it."""
        if known.key is not None:
            return self.new if known.content.casefold() == self.old.casefold() else None
        return known.content.replace(self.old, self.new, 1) if self.old in known.content else None


def _find_swap(group: Sequence[Memory], correction: str, *, named: bool) -> _Swap | None:
    """Return the value that a correction replaces in a statement, of which the `group` was read; None unless it is
    plain which: the one that the correction names, that is a value under a key, or that is the only one of its sort.
    """
    statement = _statement(group[0])
    before, said = values_in(statement), {one.normal for one in values_in(correction)}
    new = _new_values(correction, before)
    same = [one for one in before if len(new) == 1 and one.sort == new[0].sort]
    keyed = {one.content.casefold() for one in group if one.key is not None}
    told = [one for one in same if one.normal in said]
    told = told or (
        [] if named else [one for one in same if statement[one.start : one.end].casefold() in keyed] or same
    )
    if len(told) != 1:
        return None
    return _Swap(statement[told[0].start : told[0].end], correction[new[0].start : new[0].end])


def _is_same(one: str, other: str) -> bool:
    return one.casefold().strip(" .!") == other.casefold().strip(" .!")


async def _known_filter(gateway: MemoryGateway, actor: Actor) -> Where:
    return Where(
        scopes=actor.scopes([Level.USER]), kinds=frozenset({Kind.LONG_TERM}), live_at=gateway.clock.now(),
        hidden_keys=await gateway.hidden_keys(actor),
    )  # fmt: skip


def _check_words(gateway: MemoryGateway, message: Message, words: _Words, **given: object) -> Candidate | None:
    """Return words of a message as a candidate, with the fields `given`; None if it may not be stored."""
    fields: dict[str, object] = {
        "category": "fact",
        "confidence": 0.7,
        "source": source_of(message, quote=message.content[slice(*words.span)], span=words.span),
        "occurred_at": message.sent_at,
    }
    made = Candidate(**fields | given)  # type: ignore[arg-type]
    try:
        return check_candidate(timed(made, words.text, message.sent_at), gateway.policy, gateway.budget)
    except RunStopped:
        return None


def _meets(span: tuple[int, int], others: Sequence[tuple[int, int]]) -> bool:
    return any(start < span[1] and span[0] < end for start, end in others)


def _covers(whole: tuple[int, int] | None, part: tuple[int, int] | None) -> bool:
    return whole is not None and part is not None and whole[0] <= part[0] and part[1] <= whole[1]
