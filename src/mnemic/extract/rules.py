"""Extraction without any model: what a user's own words state plainly, and nothing else.

A message is cut into clauses. Clauses that say nothing lasting (requests, questions, guesses, other people's words)
are left out with the reason. In the others the tables look for typed facts first, which go under their key, then for
plain statements about the user, which are kept in the user's words under a category. Every candidate quotes the
clause it comes from.

The patterns have bounded repetitions and run over clauses of at most 400 characters, so the cost grows with the
length of the message and not faster.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from mnemic.errors import RunStopped
from mnemic.extract import Extraction, is_users_own
from mnemic.extract.clauses import Clause, clauses
from mnemic.extract.model import source_of
from mnemic.extract.signals import NEGATED, NOT_DURABLE, TRANSIENT, WISH, Mood, left_out, mood_of, payload_follows
from mnemic.extract.tables import Rule, english, others, spanish, straight, tidy
from mnemic.extract.when import timed
from mnemic.guard.budget import Budget, check_time
from mnemic.guard.contract import check_candidate, drop_duplicates
from mnemic.guard.policy import Policy
from mnemic.text.normalise import clean_content, invisible
from mnemic.text.pattern import Pattern
from mnemic.types import Candidate, Deadline, Message, Skipped

MAX_MESSAGE_CHARS = 32_768
MAX_CLAUSE_CHARS = 400
MAX_SKIPPED = 20
"""Reasons reported for one message; a long text is not answered with a longer report."""
SHORTEST_CONTENT_WORDS = 3
SHORTEST_UNSPACED_CHARS = 5
_GAP = 8
"""Two clauses that stand so close (a comma, an "and") are reported as one."""

_TYPED = (*english.RULES, *spanish.RULES)
_FREE = (*english.FREE, *spanish.FREE, *others.FREE)
_REJECTED_ALTERNATIVE = Pattern(
    r"\s(?:over|rather than|instead of|not|but not|en lugar de|en vez de)\s.*|(?<!prefer)(?<!prefiero)\s(?:to|"
    r"a)\s(?:the\s)?"
    r"(?:window|aisle|middle|morning|afternoon|evening|night|early|late)\b.*",
    re.IGNORECASE,
)
_OPENING = Pattern(
    r"^(?:(?:please|also|and|so|well|oh|hey|hi|hello|by the way|btw|ok|okay|just|fyi|por favor|y|además)\b[,:]?\s+|"
    r"(?:note|remember|keep in mind|recuerda|ten en cuenta|for the record|don't forget)(?:\s+that|\s+que|:|,)?\s+)+",
    re.IGNORECASE,
)
_PREAMBLE = Pattern(
    r"^(?:for|in|from|going|as|please|when|whenever|para|en|a partir|de)\b[^,;.]{0,60}$|^(?:from now on|"
    r"going forward)$",
    re.IGNORECASE,
)
"""A sentence's opening that only says where the rest applies ("For future incident updates")."""
_BLOCKS = Pattern(r"<memory\b.{0,8000}?</memory>|```.{0,8000}?```|(?m:^>[^\n]*)", re.DOTALL | re.IGNORECASE)
_QUOTATION = Pattern(r"\"[^\"\n]{12,300}\"|“[^”\n]{12,300}”|«[^»\n]{12,300}»")
_LIST = Pattern(r"\s*,\s*(?:and |or |y |o )?|\s+(?:and|or|y|o|&) ", re.IGNORECASE)
_HAN = Pattern("[\u3400-\u4dbf\u4e00-\u9fff]")
_MARKER = "\ufffc"


class RuleExtractor:
    """Finds typed facts and plain statements by tables of patterns: in English and in part in Spanish; of eight more
    languages the plainest statements.
    """

    async def extract(self, message: Message, *, policy: Policy, budget: Budget, deadline: Deadline) -> Extraction:
        """The candidates of `message`; see `Extractor`. A breach of policy is never proposed, so nothing here stops a
        run.

        Raises InvalidInput for text with a NUL or half a surrogate pair, BudgetSpent past the deadline. Other tasks run
        between two sentences.
        """
        if not is_users_own(message):
            return Extraction(skipped=(Skipped(reason="origin"),))
        clean_content(message.content)
        found = _Findings(message, policy, budget)
        text = _readable(message.content[:MAX_MESSAGE_CHARS])
        if len(message.content) > MAX_MESSAGE_CHARS:
            found.leave_out("too_long", (MAX_MESSAGE_CHARS, len(message.content)))
        payload: str | None = None
        mood = mood_of("")
        for clause in clauses(text):
            if clause.position == 0:
                mood = mood_of(clause.sentence)
                check_time(deadline)
                await asyncio.sleep(0)  # others' turn, and the place to be cancelled
            if payload is not None and (payload.endswith(":") or clause.sentence == payload):
                found.leave_out(TRANSIENT, (clause.start, clause.end))
                continue
            payload = _payload(clause)
            _read(clause, mood, found)
        return found.extraction()


@dataclass(slots=True)
class _Findings:
    """What one message has given so far."""

    message: Message
    policy: Policy
    budget: Budget
    candidates: list[Candidate] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def leave_out(self, reason: str, span: tuple[int, int], key: str | None = None) -> None:
        """Report a reason, once for neighbours that share it."""
        last = self.skipped[-1] if self.skipped else None
        near = last is not None and last.span is not None and span[0] - last.span[1] <= _GAP
        if (
            last is not None
            and last.span is not None
            and near
            and key is None
            and (last.reason, last.key) == (reason, None)
        ):
            self.skipped[-1] = Skipped(reason=reason, span=(last.span[0], span[1]))
        elif len(self.skipped) < MAX_SKIPPED:
            self.skipped.append(Skipped(reason=reason, key=key, span=span))

    def propose(self, content: str, span: tuple[int, int], rule: Rule, key: str | None) -> None:
        """Add a candidate, if the policy knows its key and takes its value."""
        if (key is None and not self.policy.allows_keyless) or (key is not None and not self.policy.allows(key)):
            self.leave_out("key_not_in_policy", span, key)
            return
        quote = self.message.content[span[0] : span[1]]
        candidate = Candidate(
            content=content,
            key=key,
            category=rule.category,
            confidence=rule.confidence,
            source=source_of(self.message, quote=quote, span=span),
            occurred_at=self.message.sent_at,
        )
        candidate = timed(candidate, quote, self.message.sent_at)
        try:
            self.candidates.append(check_candidate(candidate, self.policy, self.budget))
        except RunStopped as breach:
            self.leave_out(breach.reason, span, key)

    def extraction(self) -> Extraction:
        """The result: doubles dropped, at most as many candidates as the budget has."""
        kept, doubles = drop_duplicates(self.candidates)
        limit = self.budget.max_capture_items
        over = tuple(
            Skipped(reason="max_capture_items", key=candidate.key, span=candidate.source.span)
            for candidate in kept[limit : limit + MAX_SKIPPED]
        )
        return Extraction(candidates=kept[:limit], skipped=(*self.skipped, *doubles, *over))


def _readable(text: str) -> str:
    """`text`, character for character, with straight apostrophes and without what is not the user speaking.

    Blocks of injected memory, code and quoted lines, and longer quotations are blanked out; a marker shows where one
    stood.
    """
    for pattern in (_BLOCKS, _QUOTATION):
        text = pattern.sub(_blank, text)
    if invisible(text.replace("\n", " ").replace("\t", " ")):
        text = "".join(c if c in "\n\t" or not invisible(c, strict=True) else " " for c in text)
    return straight(text)


def _blank(match: re.Match[str]) -> str:
    block = match[0]
    if block[0] in '"“«' and len(block.split()) < SHORTEST_CONTENT_WORDS + 1:
        return block
    return _MARKER + "".join("\n" if c == "\n" else " " for c in block[1:])


def _payload(clause: Clause) -> str | None:
    """What follows an order that has a text as its object: the rest of the sentence, or everything behind a colon."""
    if not payload_follows(clause):
        return None
    return ":" if ":" in clause.sentence else clause.sentence


def _read(clause: Clause, mood: Mood, found: _Findings) -> None:
    span = clause.start, clause.end
    if len(clause.text) > MAX_CLAUSE_CHARS:
        found.leave_out("too_long", span)
        return
    if _MARKER in clause.text and len(clause.text.split()) < SHORTEST_CONTENT_WORDS * 2:
        found.leave_out("quoted", span)
        return
    reason = left_out(clause, mood)
    if reason is not None:
        found.leave_out(reason, span)
        return
    typed = list(_typed(clause, mood.standing, found.policy))
    for rule, key, value in typed:
        found.propose(value, span, rule, key)
    if not typed:
        _read_freely(clause, found)


def _typed(clause: Clause, standing: bool, policy: Policy) -> Iterator[tuple[Rule, str, str]]:
    """The typed facts of a clause, one per key (several where the key holds several)."""
    text = _REJECTED_ALTERNATIVE.sub("", clause.text) or clause.text
    favourite = english.FAVOURITE.search(clause.text)
    if favourite:
        key = "favorite_" + "_".join(favourite["k"].lower().replace("colour", "color").split())
        yield Rule(pattern=english.FAVOURITE, category="preference"), key, tidy(favourite["v"])
    taken: set[str] = set()
    for rule in _TYPED:
        if rule.key is None or rule.key in taken or (rule.standing and not standing):
            continue
        if rule.wish and (not (standing or WISH.search(text)) or NEGATED.search(text)):
            continue
        values = [value for value in _values(rule, text) if value]
        if not values or (rule.many and policy.rule(rule.key).on_change != "accumulate"):
            continue
        taken.add(rule.key)
        for value in values if rule.many else values[:1]:
            yield rule, rule.key, value


def _values(rule: Rule, text: str) -> list[str | None]:
    match = rule.pattern.search(text)
    if match is None:
        return []
    spoken = next((value for value in match.groupdict().values() if value), "")
    parts = _LIST.split(spoken) if rule.many else [spoken]
    return [rule.spell(part) for part in parts]


def _read_freely(clause: Clause, found: _Findings) -> None:
    """A statement kept in the user's own words, under a category; the rest is not durable."""
    span = clause.start, clause.end
    rule = next((rule for rule in _FREE if rule.pattern.search(clause.text)), None)
    content = _sentence(clause.text)
    if _PREAMBLE.search(clause.text) and clause.text != clause.sentence:
        return
    if rule is None or _too_short(content):
        found.leave_out(NOT_DURABLE, span)
        return
    found.propose(content, span, rule, None)


def _too_short(content: str) -> bool:
    """Whether it has too few words to say something; without spaces, too few characters."""
    return len(content.split()) < SHORTEST_CONTENT_WORDS and len(_HAN.findall(content)) < SHORTEST_UNSPACED_CHARS


def _sentence(text: str) -> str:
    """The clause as a sentence of its own: without its opening words, with a capital and a full stop."""
    content = _OPENING.sub("", text.replace(_MARKER, "").strip()).strip(" ,;:-–—")
    if not content:
        return ""
    content = content[0].upper() + content[1:]
    return content if content[-1] in '.!?。！？…"”' else content + "."
