"""Policy: the keys, scopes and kinds that may be proposed, and the rule of each key."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import timedelta
from difflib import get_close_matches
from functools import cached_property
from typing import Any, Literal, get_args

from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.language.text.normalise import canonical_value
from mnemic.types import FrozenDict, Kind, Level
from mnemic.types.memory_kinds import DURABLE_KINDS
from mnemic.types.values import canonical_key

MAX_TTL_DAYS = 36_500
MAX_WORD_CHARS = 100
_WORDS = re.compile(r"\w+")
OnChange = Literal["supersede", "accumulate", "review"]
GENERAL_KEYS = frozenset(
    {
        "allergies", "allergy", "child", "children", "detail", "details", "dislike", "dislikes", "event", "events",
        "fact", "facts", "family", "friend", "friends", "general", "goal", "goals", "habit", "habits", "health",
        "hobbies", "hobby", "identity", "info", "information", "instruction", "instructions", "interest", "interests",
        "like", "likes", "location", "medication", "medications", "memory", "misc", "note", "notes", "other", "pet",
        "pets", "plan", "plans", "preference", "preferences", "relation", "relations", "relationship", "skill",
        "skills", "task", "tasks",
    }
)  # fmt: skip
"""Keys that name a sort of thing, of which a person has many: without a rule of their own, their values accumulate."""
Expiry = Literal["sliding", "fixed"]
OnViolation = Literal["stop", "skip"]
OnModelFailure = Literal["stop", "rules"]
OnRefuted = Literal["report", "stop"]
EntityReading = Literal["rules", "names", "model"]
"""The reader that notices entities in ordinary texts."""


# No slots: `cached_property` needs `__dict__`.
@dataclass(frozen=True)
class KeyRule:
    """Rule of one key.

    `on_change`: a new value replaces the old one (`supersede`), is added to it (`accumulate`), or waits for a person
    (`review`). `allowed_values`: the only values, in the spelling that is stored; compared without case (NFKC,
    casefold). `ttl_days`: the longest time for which a value is stored (1 to 36500); `expiry`: whether that time
    restarts when the value is confirmed (`sliding`) or counts from its first statement (`fixed`). `sensitive`: outside
    the runtime grant unless the grant trusts the key by name. `pinned`: injected into every request. `preference`: may
    receive the preference bias. `verifier`: names the check that an answer respects the value.
    """

    key: str
    _: KW_ONLY
    on_change: OnChange = "supersede"
    allowed_values: frozenset[str] | None = None
    sensitive: bool = False
    pinned: bool = False
    preference: bool = False
    verifier: str | None = None
    ttl_days: int | None = None
    expiry: Expiry = "sliding"

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", _config_key(self.key))
        if self.expiry not in get_args(Expiry):
            raise InvalidConfig(f"expiry:{self.key}", hint="one of sliding, fixed")
        _check_days(self.ttl_days, f"ttl_days:{self.key}", MAX_TTL_DAYS)
        if self.on_change not in get_args(OnChange):
            raise InvalidConfig(f"on_change:{self.key}", hint="one of supersede, accumulate, review")
        if self.allowed_values is not None:
            object.__setattr__(self, "allowed_values", frozenset(self.allowed_values))
            if not self.allowed_values or len(self._spellings) != len(self.allowed_values) or "" in self._spellings:
                raise InvalidConfig(
                    f"allowed_values:{self.key}", hint="at least one value, no two of them alike, none blank"
                )

    @cached_property
    def _spellings(self) -> Mapping[str, str]:
        return {canonical_value(value): value for value in self.allowed_values or ()}

    def spelling(self, value: str) -> str | None:
        """`value` as it is stored: in the policy's spelling if values are listed; None for one that is not listed."""
        return value if self.allowed_values is None else self._spellings.get(canonical_value(value))


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Allowlists of keys, levels (scopes) and kinds, and one rule per key.

    `keys` None allows every key, each under the default rule. A mapping closes the list, unless `open_keys` is set:
    then its rules apply to its keys, and other keys are allowed under the default rule. `keyless`: whether memories
    without a key may be proposed (None: only if the list is open). `on_violation`: `stop` ends the run at the first
    breach, `skip` leaves the candidate out with the reason (None: `stop` if the list is closed).
    `preference_bias` (0 to 1) is the bonus that a run may give
    to preference keys. `default_ttl_days`: lifetime of memories that name none and whose key has none (1 to 36500;
    None: that of the kind). `longest`: upper bound of the lifetime of each kind. Memories of `fixed_kinds` without a
    key keep their first lifetime. `judged`: a configured language model compares each new memory with those near it.
    `on_model_failure`: if the model that should read a message or plan a search fails, `rules` goes on with what the
    rules read and reports that, `stop` ends the run (None: `stop` if `on_violation` is given as `stop`).
    `on_refuted`: an answer that cites a memory and does not reflect it is reported
    (`report`), unless it reflects none of those it cites; `stop` ends the run in either case. `sensitive_words`: words
    and phrases whose memories a turn of the memory graph leaves out or sends to review, as it does with health and
    identity papers.
    `keep_messages`: adapters and graphs record the user's redacted messages in addition to what they capture.
    `keep_turns`: see `mnemic.write.turn_log.keeps_turns`. `operators_read_turns`: an operator who states a reason may
    read the stored turns of a user.

    Raises InvalidConfig (`invalid_config:<field>`).
    """

    keys: Mapping[str, KeyRule] | None = None
    levels: frozenset[str] = frozenset(Level)
    kinds: frozenset[Kind] = DURABLE_KINDS
    on_violation: OnViolation | None = None
    preference_bias: float = 0.1
    pinned_kinds: frozenset[Kind] = frozenset()
    pinned_categories: frozenset[str] = frozenset({"instruction"})
    open_keys: bool = False
    keyless: bool | None = None
    default_ttl_days: int | None = None
    longest: Mapping[Kind, timedelta] = field(default_factory=dict)
    fixed_kinds: frozenset[Kind] = frozenset()
    judged: bool = False
    on_model_failure: OnModelFailure | None = None
    on_refuted: OnRefuted = "report"
    sensitive_words: frozenset[str] = frozenset()
    keep_messages: bool = True
    keep_turns: bool | None = None
    operators_read_turns: bool = True
    _rules: Mapping[str, KeyRule] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rules = {_config_key(key): rule for key, rule in (self.keys or {}).items()}
        if any(not _is_rule_of(key, rule) for key, rule in rules.items()):
            raise InvalidConfig("keys", hint="each key maps to its own KeyRule")
        object.__setattr__(self, "_rules", FrozenDict(rules))
        if self.keys is not None:
            object.__setattr__(self, "keys", self._rules)
        object.__setattr__(self, "levels", checked_levels(self.levels, "levels"))
        _check_kinds(self.kinds, "kinds")
        _check_kinds(self.pinned_kinds, "pinned_kinds")
        _check_kinds(self.fixed_kinds, "fixed_kinds")
        if self.on_model_failure is None:
            # A run that shall end at a wrong answer shall not pass over a missing one.
            object.__setattr__(self, "on_model_failure", "stop" if self.on_violation == "stop" else "rules")
        if self.on_violation is None:
            object.__setattr__(self, "on_violation", "stop" if self.closed else "skip")
        if self.on_violation not in get_args(OnViolation):
            raise InvalidConfig("on_violation", hint="one of stop, skip")
        if self.on_model_failure not in get_args(OnModelFailure):
            raise InvalidConfig("on_model_failure", hint="one of stop, rules")
        if self.on_refuted not in get_args(OnRefuted):
            raise InvalidConfig("on_refuted", hint="one of report, stop")
        bias: object = self.preference_bias
        if isinstance(bias, bool) or not isinstance(bias, int | float) or not math.isfinite(bias) or not 0 <= bias <= 1:
            raise InvalidConfig("preference_bias", hint="a number from 0 to 1")
        _check_days(self.default_ttl_days, "default_ttl_days", MAX_TTL_DAYS)
        object.__setattr__(self, "sensitive_words", _checked_words(self.sensitive_words))
        object.__setattr__(self, "longest", FrozenDict({**self.longest}))
        _check_kinds(frozenset(self.longest), "longest")

    @classmethod
    def of(cls, *rules: KeyRule | str, **settings: Any) -> Policy:
        """Return a policy with these keys and no others: `Policy.of("language", KeyRule("seat", preference=True))`."""
        made = [KeyRule(rule) if isinstance(rule, str) else rule for rule in rules]
        return cls(keys={rule.key: rule for rule in made}, **settings)

    @property
    def closed(self) -> bool:
        """True when only the listed keys may be proposed."""
        return self.keys is not None and not self.open_keys

    @property
    def allows_keyless(self) -> bool:
        """True if memories without a key may be proposed."""
        return self.keys is None or self.open_keys if self.keyless is None else self.keyless

    def allows(self, key: str) -> bool:
        """Return True if `key` (canonical) may be proposed."""
        return not self.closed or key in self._rules

    def rule(self, key: str) -> KeyRule:
        """Return the rule of `key`; the default rule if the policy has none."""
        # A new rule each time rather than one default: a rule contains its key.
        return self._rules.get(key) or KeyRule(key, on_change="accumulate" if key in GENERAL_KEYS else "supersede")

    def slides(self, key: str | None, kind: Kind) -> bool:
        """Return True if a memory's time to live starts again on confirmation: by its key's rule, or its kind."""
        return kind not in self.fixed_kinds if key is None else self.rule(key).expiry == "sliding"

    def with_longest(self, longest: Mapping[Kind, timedelta]) -> Policy:
        """Return this policy with these longest times for kinds; if both name one, the shorter."""
        shorter = {kind: min(ttl, self.longest.get(kind, ttl)) for kind, ttl in longest.items()}
        return replace(self, longest={**self.longest, **shorter}) if shorter else self

    @property
    def sensitive_keys(self) -> frozenset[str]:
        """The keys that need to be trusted by name."""
        return frozenset(key for key, rule in self._rules.items() if rule.sensitive)

    def names_sensitive(self, texts: Iterable[str]) -> bool:
        """Return True if one of the texts has one of `sensitive_words` as whole words, ignoring case."""
        if not self.sensitive_words:
            return False
        # Padded with spaces, so that containment compares whole words and phrases.
        said = [f" {' '.join(_WORDS.findall(canonical_value(text)))} " for text in texts]
        wanted = [f" {' '.join(_WORDS.findall(word))} " for word in self.sensitive_words]
        return any(word in text for word in wanted for text in said)


def _checked_words(words: Iterable[object]) -> frozenset[str]:
    names = frozenset() if isinstance(words, str) else frozenset(words)
    read = frozenset(canonical_value(word) for word in names if isinstance(word, str) and len(word) <= MAX_WORD_CHARS)
    if isinstance(words, str) or len(read) != len(names) or not all(map(_WORDS.search, read)):
        raise InvalidConfig("sensitive_words", hint=f"words or phrases of at most {MAX_WORD_CHARS} characters each")
    return read


def _check_days(days: object, name: str, most: int) -> None:
    if days is not None and (isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= most):
        raise InvalidConfig(name, hint=f"a whole number from 1 to {most}")


def checked_levels(levels: Iterable[str], name: str) -> frozenset[str]:
    """Return the levels as a set, at least one and each one known. Raises InvalidConfig (`invalid_config:<name>`)."""
    chosen = frozenset(levels) if not isinstance(levels, str) else frozenset()
    if not chosen or not all(isinstance(level, str) for level in chosen) or not chosen <= frozenset(Level):
        raise InvalidConfig(name, hint="one or more of user, workspace, agent, session")
    return frozenset(str(level) for level in chosen)


def _check_kinds(kinds: frozenset[Kind], name: str) -> None:
    if not all(kind in tuple(Kind) for kind in kinds):
        raise InvalidConfig(name, hint="one or more of " + ", ".join(Kind))


def _is_rule_of(key: str, rule: object) -> bool:
    return isinstance(rule, KeyRule) and rule.key == key


def _config_key(key: str) -> str:
    try:
        return canonical_key(key)
    except InvalidInput as error:
        raise InvalidConfig("key", hint=error.hint) from error


_NEAR, _SHOWN, _LONGEST = 3, 12, 64


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the names in `known` that are like `name` as a question; the first of all if none is."""
    names = sorted(known)
    near = get_close_matches(name[:_LONGEST], names, n=_NEAR)
    if near:
        return f"did you mean {' or '.join(near)}?"
    if not names:
        return "there are none"
    return f"known: {', '.join(names[:_SHOWN])}{', ...' if len(names) > _SHOWN else ''}"
