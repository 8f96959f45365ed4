"""Recall: the one decision about which memories a model call is shown.

The injector, `run`, the graph, the frameworks' stores, the tools of MCP, REST `/context`, the adapters and the console
all use it, so that the same request is shown the same memories on every path. A search finds; recall decides:

1. Memories that policy pins (by key, kind or category) are shown for every request.
2. A preference, a constraint or the user's identity is shown if the answer could depend on it, also if it was stored
   without a category.
3. Other memories are shown if they are relevant, and none if the search probably knows nothing about the query, or the
   request is small talk.
4. If less is found for a choice, a plan or a draft, the nearest statements are shown: a model that can tell what helps
   loses more by a missing one than by a needless one. A question for the user's profile is
   shown it (`mnemic.engine.user_profile`), whole and first.
5. The result is cut: to the requested number, to one memory from untrusted channels, to the tokens.
6. If the request asks for an order, the rest is sorted by time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace

from mnemic.dispatch.gateway import PREFERENCE, MemoryGateway
from mnemic.engine.first_use import expressions_compiled
from mnemic.engine.user_profile import memories_of_user, profile_lines
from mnemic.inject.memory_source import is_limited, is_trusted
from mnemic.inject.token_count import TokenCount, estimated_tokens, within_tokens
from mnemic.language.questions.topics import KEYS
from mnemic.language.sentences.categories import may_order
from mnemic.policy.key_rules import Policy
from mnemic.retrieve.answer_judgement import JUDGE
from mnemic.retrieve.asked_attributes import ASKED
from mnemic.retrieve.category_members import asks_for_several
from mnemic.retrieve.content_judgement import MEANT, QUESTION
from mnemic.retrieve.explanation import DEPENDED_ON, as_depended_on, as_found
from mnemic.retrieve.policy_candidates import PINNED, PREFERENCE_BIAS, RELEVANCE, PreferenceBias
from mnemic.retrieve.preference_relevance import ParsedRequest, concerned_without_category, shapes_answers
from mnemic.retrieve.relevance import RELATED
from mnemic.retrieve.time_questions import THEN, asks_order, in_time_order
from mnemic.types import Actor, Deadline, Hit, Intent, Kind, Memory, RecallRequest, RecallResult, SearchResult, Status
from mnemic.types.recall_limits import shorten_question
from mnemic.types.search import MESSAGE_CATEGORY
from mnemic.write.derived_memories import sources_of

MAX_PINNED = 40
"""Pinned memories and preferences that one search may add; the token budget decides how many are shown."""
IDENTITY = "identity"
"""Category in which the extractors store a person's identity."""
INSTRUCTION = "instruction"
"""Category of standing orders."""
COVERED_BY_FACTS = 0.4
"""Fraction of a message quoted by its facts, from which on the message itself is left out."""
AMONG = 20
"""Number of hits searched for a statement that the messages of a long chat have outranked."""
AMONG_OF_A_CHOICE = 100
"""The same for a request for a choice, which depends on statements that do not resemble it."""
NEAREST = 2
"""Statements shown to a request on which they may bear, if nothing is found that it surely depends on, with those that
are relevant to it.
"""
JUDGED = frozenset({PREFERENCE, IDENTITY, "constraint"})
"""Categories that are shown if the request could depend on them."""
_FURTHER_SENTENCE = re.compile(r"[.!?;\n]\s{0,9}\w")
SPEAKER = "speaker"
"""Sign of a message by a person whom the query names."""


async def recall(
    gateway: MemoryGateway, request: RecallRequest, *, actor: Actor, deadline: Deadline | None = None
) -> RecallResult:
    """Return the memories to show to the model call described by `request`, on behalf of the actor. Nothing is logged:
    the caller that shows them logs them.

    Raises ScopeDenied for a level that is not granted, and MnemicError if every list of the search fails.
    """
    await expressions_compiled()
    # More than are shown: selection below drops some, and the reserve lets others take their place.
    ask = _ask(request)
    among = AMONG_OF_A_CHOICE if ask.wants_choice or ask.is_profile else AMONG
    top_k = max(request.intent.top_k, among)
    intent = replace(request.intent, query=shorten_question(request.intent.query), top_k=top_k)
    result = await gateway.find(
        intent, actor=actor, bias=_bias(gateway, request), asked_at=request.asked_at, deadline=deadline
    )
    profile: Sequence[Memory] = ()
    if request.profile_tokens or (ask.is_profile and request.pinned_share):
        of_all = replace(request.intent, query="", parts=(), top_k=1, min_score=0.0) == Intent(query="", top_k=1)
        # What a caller narrows to a time or a kind is read from what was found there.
        found = [hit.memory for hit in result.hits if _is_statement(hit.memory)]
        profile = await memories_of_user(gateway, actor) if of_all else found
    return choose(result, request, gateway.policy, actor, gateway.token_count, profile)


def _bias(gateway: MemoryGateway, request: RecallRequest) -> PreferenceBias:
    """Return the memories shown in addition to the best hits: pinned ones, and preferences that may matter."""
    bias = gateway.bias(request.preference_bias)
    if not request.pinned_share:
        # 0, not None: pinned memories are then left out instead of competing for places.
        return replace(bias, beside=0)
    return replace(
        bias,
        pinned_keys=bias.pinned_keys | _preferred_keys(gateway.policy) | KEYS,
        pinned_categories=bias.pinned_categories | JUDGED,
        beside=MAX_PINNED,
    )


def _preferred_keys(policy: Policy) -> frozenset[str]:
    return frozenset(rule.key for rule in (policy.keys or {}).values() if rule.preference)


def choose(
    result: SearchResult,
    request: RecallRequest,
    policy: Policy,
    reader: Actor,
    count: TokenCount = estimated_tokens,
    profile: Sequence[Memory] = (),
) -> RecallResult:
    """Return the hits of `result` that are shown to a model that serves `reader`, before them those of `profile`, what
    holds of the user, if the request asks for it.
    """
    ask = _ask(request)
    result = _of_its_time(_reaching(result, request.intent.min_score, policy))
    pinned = [hit for hit in result.hits if _is_judged(hit) and is_trusted(hit.memory, reader)]
    pinned.sort(key=lambda hit: hit.memory.status is not Status.SUPERSEDED)  # past truths come first
    plain = [hit for hit in concerned_without_category(result.hits, ask) if is_trusted(hit.memory, reader)]
    past = [hit for hit in pinned if _answers_past(hit)]
    asked = {*ask.find_concerned(pinned), *(hit.memory.memory_id for hit in (*past, *plain))}
    # How to answer says nothing about the task itself.
    told = asked - {hit.memory.memory_id for hit in pinned if shapes_answers(hit.memory)}
    shown = [hit for hit in pinned if _is_pinned(hit.memory, policy) or hit.memory.memory_id in asked] + plain
    shown.sort(key=lambda hit: hit.memory.memory_id not in asked)  # memories that are only pinned are cut first
    shown = [_add_reason(hit, policy) for hit in shown]
    statements = [hit for hit in result.hits if _is_statement(hit.memory) and not is_limited(hit.memory, reader)]
    share = request.pinned_share
    first: tuple[Hit, ...] = ()
    if ask.is_profile and share:
        shown, share = _with_profile(profile, shown, reader), 1.0
    elif request.profile_tokens:
        first = _within_share(_with_profile(profile, (), reader), request.profile_tokens, count)
        ahead = {hit.memory.memory_id for hit in first}
        shown = [hit for hit in shown if hit.memory.memory_id not in ahead]
    beside = (*first, *_within_share(shown, int(request.max_tokens * share), count))
    known = {hit.memory.memory_id for hit in beside}
    biased = _preferred_keys(policy) if request.preference_bias else frozenset()
    others = [
        hit for hit in result.hits if hit.memory.memory_id not in known and not _only_asks(hit) and not _is_over(hit)
    ]
    rest = _in_order(others, biased)
    abstains = result.abstains_below(request.least_relevance)
    # "Thanks!" is similar to many messages and requests none of them.
    near = [] if ask.is_small_talk else _keep_near(rest, request, ask)
    # A question about the user shows its best hit, unless the search abstains, rather than nothing.
    if not near and not told and not (ask.is_small_talk or ask.of_the_world):
        near = _first(rest, request, abstains)
    facts = [hit.memory for hit in (*beside, *near) if hit.memory.category != MESSAGE_CATEGORY]
    near = [hit for hit in near if not _is_covered(hit.memory, facts)]
    relevant = [hit for hit in near if hit.reason == PREFERENCE_BIAS or not abstains]
    relevant = _trusted_first(relevant, request.max_untrusted, reader)
    # One that surely answers does not tell what else bears on a plan: the boiler's service, and whoever works nights.
    further = max(0, NEAREST - len(relevant)) if request.pinned_share and not told else 0
    nearest = ask.find_nearest(statements, NEAREST) if further else ()
    # Pinned memories first, so that the token budget never drops them for a merely relevant one.
    known |= {hit.memory.memory_id for hit in relevant}
    bearing = [_as_pinned(hit, policy) for hit in nearest if hit.memory.memory_id not in known][:further]
    chosen = [*beside, *relevant, *bearing]
    hits = within_tokens(chosen, request.max_tokens, count=count)
    within = {hit.memory.memory_id for hit in hits}
    without = {hit.memory.memory_id: hit for hit in (*shown, *chosen) if hit.memory.memory_id not in within}
    hits = in_time_order(hits) if asks_order(shorten_question(request.asked or request.intent.query)) else hits
    silent = abstains and not chosen and bool(result.hits)
    abstained = silent or (bool(near) and not relevant)
    return RecallResult(hits=hits, cut=tuple(without.values()), found=result, abstained=abstained)


def _ask(request: RecallRequest) -> ParsedRequest:
    return ParsedRequest.from_text(shorten_question(request.asked or request.intent.query))


def _reaching(result: SearchResult, least: float, policy: Policy) -> SearchResult:
    """Return the result without the hits whose relevance is below `least`. Pinned memories stay."""
    if least <= 0:
        return result
    kept = [hit for hit in result.hits if _is_pinned(hit.memory, policy) or hit.reaches(least)]
    return replace(result, hits=tuple(kept))


def _of_its_time(result: SearchResult) -> SearchResult:
    """Return the result of a question about the past without the facts that began after the time in question, or that
    took the place of one that was true then.
    """
    then = {hit.memory.memory_id for hit in result.hits if THEN in hit.ranks}

    def began_later(memory: Memory) -> bool:
        known = memory.valid_from is not None or not then.isdisjoint(memory.supersedes)
        return known and memory.memory_id not in then and memory.kind is not Kind.EPISODIC

    return replace(result, hits=tuple(hit for hit in result.hits if not began_later(hit.memory))) if then else result


def _only_asks(hit: Hit) -> bool:
    """Return True if it is a recorded question, which a search ranks after possible answers."""
    return QUESTION in hit.ranks


def _is_over(hit: Hit) -> bool:
    """Return True if it is a message of one sentence whose statement may be outdated: the statement is shown instead,
    or its successor. Of a longer message the rest may still be true.
    """
    is_message = hit.outdated_by is not None and hit.memory.category == MESSAGE_CATEGORY
    return is_message and _FURTHER_SENTENCE.search(hit.memory.content) is None


def _is_judged(hit: Hit) -> bool:
    """Return True if it is shown when the request could depend on it, or answers a question about the past."""
    return hit.pinned or hit.memory.status is Status.SUPERSEDED


def _answers_past(hit: Hit) -> bool:
    """Return True if it is superseded, and about the subject of a question about the past."""
    return hit.memory.status is Status.SUPERSEDED and hit.relevance is not None and hit.relevance >= RELATED


def _is_covered(message: Memory, facts: Sequence[Memory]) -> bool:
    """Return True if it is a message and these facts, made from it, cover most of it: nothing is shown twice. A
    long message of which a fact is only a small part is not covered.
    """
    if message.category != MESSAGE_CATEGORY:
        return False
    quoted = {
        fact.source.quote for fact in facts if fact.source.quote and fact.source.session == message.source.session
    }
    quoted_chars = sum(len(quote) for quote in quoted if quote in message.content)
    return quoted_chars >= COVERED_BY_FACTS * len(message.content)


def _in_order(hits: Sequence[Hit], biased: Set[str]) -> list[Hit]:
    """Return the hits in the order in which they compete for places: those that were added to the best hits are
    inserted by their score. The others keep their order, which does not follow their scores alone. A key among `biased`
    competes whatever the query.
    """
    order = [hit for hit in hits if not hit.pinned]
    for hit in (replace(hit, reason=_reason(hit, biased), why=as_found(hit.why)) for hit in hits if hit.pinned):
        place = next((at for at, other in enumerate(order) if other.score < hit.score), len(order))
        order.insert(place, hit)
    return order


def _reason(hit: Hit, biased: Set[str]) -> str:
    return PREFERENCE_BIAS if hit.memory.key in biased else RELEVANCE


def _is_pinned(memory: Memory, policy: Policy) -> bool:
    """Return True if policy shows the memory for every question. A sentence that was only read as an instruction, and
    looks like none, has to bear on the request as any other.
    """
    rule = policy.rule(memory.key) if memory.key is not None else None
    if (rule is not None and rule.pinned) or memory.kind in policy.pinned_kinds:
        return True
    if memory.category not in policy.pinned_categories:
        return False
    said = memory.source.quote
    return memory.category != INSTRUCTION or said is None or shapes_answers(memory) or may_order(said)


def _add_reason(hit: Hit, policy: Policy) -> Hit:
    """Return the hit with the reason why it is shown regardless of similarity. That of a past truth is in its ranks."""
    if _is_pinned(hit.memory, policy) or _answers_past(hit):
        return hit
    return replace(hit, why=as_depended_on(hit.why, hit.memory.category))


def _as_pinned(hit: Hit, policy: Policy) -> Hit:
    return replace(_add_reason(hit, policy), reason=PINNED)


def _is_statement(memory: Memory) -> bool:
    return memory.kind is Kind.LONG_TERM and memory.status is Status.ACTIVE and memory.category != MESSAGE_CATEGORY


def _with_profile(profile: Sequence[Memory], shown: Sequence[Hit], reader: Actor) -> list[Hit]:
    """Return the hits of the profile in its order, then the others that are shown."""
    told = [one for one in profile if sources_of(one) or not is_limited(one, reader)]
    lines = [line.memory for line in profile_lines(told)]
    found = {hit.memory.memory_id: hit for hit in shown}
    first = [found.get(one.memory_id, Hit(memory=one, score=0.0, why=DEPENDED_ON)) for one in lines]
    known = {one.memory_id for one in lines}
    return [*first, *(hit for hit in shown if hit.memory.memory_id not in known)]


def _within_share(hits: Sequence[Hit], max_tokens: int, count: TokenCount) -> tuple[Hit, ...]:
    return tuple(replace(hit, reason=PINNED) for hit in within_tokens(hits, max_tokens, count=count))


def _keep_near(hits: Sequence[Hit], request: RecallRequest, ask: ParsedRequest) -> list[Hit]:
    """Return the first hits that are near: messages among the first `top_k` of all, statements wherever they rank. A
    question for a number or a set is answered by all that it counts, so it gets up to `AMONG`. A question about the
    world that names no speaker is answered by few messages, so each must be as likely as a statement.
    """
    most = request.intent.top_k
    if asks_for_several(shorten_question(request.asked or request.intent.query)):
        most = max(most, AMONG)
    meant = (hit for place, hit in enumerate(hits) if place < most or hit.memory.category != MESSAGE_CATEGORY)
    of_nobody = ask.of_the_world and not any(SPEAKER in hit.ranks for hit in hits)
    least = request.least_relevance if of_nobody else 0.0
    return [hit for hit in meant if _is_near(hit, request, least)][:most]


def _first(hits: Sequence[Hit], request: RecallRequest, abstains: bool) -> list[Hit]:
    """Return the first hit if the search does not abstain: the nearest memory and the one with the word may be two."""
    if abstains or not hits or hits[0].memory.category in JUDGED:
        return []
    return [hit for hit in hits[:1] if _is_alike(hit, request)]


def _is_near(hit: Hit, request: RecallRequest, least: float) -> bool:
    """Return True if the hit shares a word or a key with the query or is close to it, and is likely enough to be about
    it. A single message of a conversation carries little, so its bound is lower, but for `least`.
    """
    if hit.reason == PREFERENCE_BIAS:
        return True
    likely = hit.concerns_query(request.least_relevance) and (hit.relevance is None or hit.relevance >= least)
    return likely and _is_alike(hit, request)


def _is_alike(hit: Hit, request: RecallRequest) -> bool:
    """Return True if the hit shares a word or a key with the query, is read as an answer, or is close to it."""
    near = hit.ranks.get("vector")
    if any(name in hit.ranks and hit.ranks[name].score > 0 for name in (JUDGE, ASKED, MEANT)):
        return True
    close = near is not None and near.score >= request.min_similarity
    # A superseded memory is found only for a question about the past, in lists that the hit does not show.
    return close or hit.memory.status is Status.SUPERSEDED or not {"keyword", "key"}.isdisjoint(hit.ranks)


def _trusted_first(hits: Sequence[Hit], most: int | None, reader: Actor) -> list[Hit]:
    """Return the hits in their order, with at most `most` that came through an untrusted channel."""
    kept: list[Hit] = []
    untrusted = 0
    for hit in hits:
        if not is_limited(hit.memory, reader):
            kept.append(hit)
        elif most is None or untrusted < most:
            kept.append(hit)
            untrusted += 1
    return kept
