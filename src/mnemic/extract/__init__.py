"""CONVERSATION IN, UNTRUSTED CANDIDATES OUT.

By rules (`rules`) without any model, or by a language model (`model`). Both are limited to facts that the user's own
words support, and report each omission with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from mnemic.errors import MnemicError
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.types import Candidate, Cost, Deadline, Message, Origin, Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Candidates found in a message, and the spans left out with their reasons (`Skipped.reason`).

    Reasons: `transient` a request or passing state, `hypothetical`, `quoted` another person's words or displayed text,
    `sarcasm`, `joke`, `opinion` of the moment, `third_party` gossip, `not_durable` small talk, `not_understood`
    possibly durable but unclear, `origin` not the user's own message, `key_not_in_policy`, `unsupported` by the user's
    words, `duplicate`, `too_long`, `max_capture_items`, or the reason of a policy that skips. `cost` is the charge of
    a model for reading it. `degraded` gives the reason why rules read it instead of a model, or `llm_truncated` if the
    model's answer was cut off; `unknown` why it was read without the known memories: then changes that it only implies
    are missed. `between_people`: it was said to another person. `certain`: those of the candidates that rules read,
    where a model has read on top of them.
    """

    candidates: tuple[Candidate, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    cost: Cost = Cost()
    degraded: str | None = None
    unknown: str | None = None
    between_people: bool = False
    certain: tuple[Candidate, ...] = ()


class Extractor(Protocol):
    """Proposes memories from one message."""

    async def extract(self, message: Message, *, policy: Policy, budget: Budget, deadline: Deadline) -> Extraction:
        """Candidates within policy and budget, each with a quote and its span in `message.content`.

        The origin of a candidate is the message's channel. Raises RunStopped (policy, budget, model) and InvalidInput
        for a message that is not valid text.
        """


@runtime_checkable
class WindowExtractor(Extractor, Protocol):
    """Reads several turns of one conversation at once."""

    async def extract_window(
        self, messages: Sequence[Message], *, policy: Policy, budget: Budget, deadline: Deadline
    ) -> list[Extraction | MnemicError]:
        """Return the extraction of each message, in order, or the error that stops its run."""


USER_ROLES = frozenset({"user", "human"})
"""Roles of the user's own words. All others are left out as `origin`."""

_NAME_PART = re.compile(r"[^\W_]+")

_OWN_CHANNELS = frozenset({Origin.USER_STATED, Origin.OPERATOR, Origin.IMPORT})


def is_users_own(message: Message) -> bool:
    """Return True if the message contains the user's own words: by its role and its channel, never by its text."""
    return message.role.strip().casefold() in USER_ROLES and message.origin in _OWN_CHANNELS


def is_name_of(name: str | None, user: str) -> bool:
    """Return True if a message with this name, or with none, may be the user's: "Ana" is a name of `ana.diaz`."""
    return name_parts(name) <= name_parts(user) | USER_ROLES


def name_parts(name: str | None) -> frozenset[str]:
    """Return the words of a name, in small letters."""
    return frozenset(_NAME_PART.findall((name or "").casefold()))


def is_other_person(message: Message) -> bool:
    """Return True if the message contains the words of another person who takes part in the talk: a role that is
    neither the user's nor a model's or tool's (`participant`).
    """
    own = message.role.strip().casefold() in USER_ROLES
    return not own and message.origin in _OWN_CHANNELS and not message.derived_from
