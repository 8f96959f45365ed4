"""An answer without any model: templates filled from the context and the memories.

It does not reason. It states the context's figures, obeys the preferences it has a phrase for, quotes other memories,
and cites only memories that its text really uses. A question that no template covers is not answered: the text states
that, and quotes the memories. A question for what is known of the user is answered by them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from mnemic.compose import Basis
from mnemic.errors import ModelInvalidJson
from mnemic.language.sentences.requests_about_memory import asks_for_profile
from mnemic.policy.answer_json import without_thought
from mnemic.policy.proposal_check import parse_json
from mnemic.ports import Clock, Completer
from mnemic.ports.providers import count_calls
from mnemic.prompts import answer_prompt
from mnemic.types import Deadline

MAX_QUOTED = 3
_BEGINS_JSON = ("{", "[", "```", '"')
MAX_PROFILE_CHARS = 600
"""Characters of memories in the answer to a question for the user's profile; an answer may have 700."""
LIKELY = 0.5
"""Relevance (0 to 1) from which a memory is more likely than not to answer. If one is, only such ones are quoted."""
_REQUEST = re.compile(
    r"^\s*(?:please\s+)?(?:(?:can|could|would)\s+you\s+)?(?:find|book|search(?:\s+for)?|look\s+for|get|show|plan|reserve"
    r"|order|busca|reserva|encuentra)\s+(?:me\s+|us\s+)?(?:an?\s+|the\s+|some\s+|una?\s+|el\s+|la\s+)?",
    re.IGNORECASE,
)
_FLYING = frozenset("flight flights fly plane ticket tickets trip travel vuelo vuelos viaje billete".split())
_STAYING = frozenset("hotel hotels room rooms stay accommodation trip alojamiento viaje habitación".split())
_EATING = frozenset(
    "restaurant restaurants table dinner lunch breakfast meal meals food recipe cena comida mesa".split()
)
_SERVED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "flight_time": _FLYING,
        "seat": _FLYING | {"train", "seat", "seats", "tren"},
        "cabin": _FLYING,
        "airline": _FLYING,
        "hotel": _STAYING,
        "room": _STAYING,
        "diet": _FLYING | _EATING,
    }
)
"""Words that a request must contain for a preference to belong into its answer, by key."""
_WORD = re.compile(r"[^\W\d_]+")

_PREFERENCES: Mapping[str, str] = MappingProxyType(
    {
        "flight_time": "{} flights",
        "seat": "{} seats",
        "cabin": "{} class",
        "hotel": "{} hotels",
        "diet": "{} meals",
        "airline": "{}",
        "room": "a {} room",
    }
)
"""Wording of a preference in "I will prioritize ...", by key."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """The fixed words of one language."""

    update: str
    next_actions: str
    monitor: str
    send: str
    via: str
    times: str
    prioritize: str
    and_: str
    unanswered: str
    remembered: str
    nothing: str


ENGLISH = Phrases(
    update="Incident update:",
    next_actions="Next actions:",
    monitor="keep watching",
    send="send customer updates",
    via="via {}",
    times="times are given in {}",
    prioritize="I will prioritize {} for {}.",
    and_="and",
    unanswered="No language model is configured, and no template answers this.",
    remembered="From what is remembered: {}",
    nothing="Nothing relevant is remembered.",
)
SPANISH = Phrases(
    update="Actualización del incidente:",
    next_actions="Próximas acciones:",
    monitor="seguir de cerca",
    send="enviar las novedades a los clientes",
    via="por {}",
    times="las horas están en {}",
    prioritize="Daré prioridad a {} para {}.",
    and_="y",
    unanswered="No hay ningún modelo de lenguaje configurado, y ninguna plantilla responde a esto.",
    remembered="Esto es lo que se recuerda: {}",
    nothing="No se recuerda nada relevante.",
)
_LANGUAGES: Mapping[str, Phrases] = MappingProxyType(
    {"english": ENGLISH, "en": ENGLISH, "inglés": ENGLISH, "spanish": SPANISH, "es": SPANISH, "español": SPANISH}
)


class OfflineComposer:
    """Fills templates; see the module. Deterministic: the same input gives the same answer."""

    async def compose(
        self, goal: str, context: Mapping[str, Any], memories: Sequence[Mapping[str, Any]], *, deadline: Deadline
    ) -> Any:
        """Return an answer that obeys the contract of `Composer`, with its `basis`; never fails."""
        # Reversed, so that of several memories under one key the first, which ranks best, remains.
        by_key = {str(entry["key"]): entry for entry in reversed(memories) if entry.get("key")}
        cited: list[str] = []
        # The language first: it is itself a memory that the answer has used, and is cited.
        phrases = _phrases(by_key, cited)
        if context:
            return _answer(_update(goal, context, by_key, phrases, cited), cited, Basis.TEMPLATE)
        wished = _preference_text(goal, by_key, phrases, cited)
        if wished is not None:
            return _answer(wished, cited, Basis.ECHO)
        if asks_for_profile(goal):
            return _answer(_quote_profile(memories, phrases, cited), cited, Basis.ECHO)
        return _answer(f"{phrases.unanswered} {_quote_memories(memories, phrases, cited)}", cited, Basis.NONE)


def _answer(text: str, cited: Sequence[str], basis: Basis) -> dict[str, Any]:
    return {"answer": text, "used_memory_keys": list(dict.fromkeys(cited)), "basis": basis}


def _phrases(by_key: Mapping[str, Mapping[str, Any]], cited: list[str]) -> Phrases:
    language = by_key.get("language")
    known = _LANGUAGES.get(str(language["value"]).strip().casefold()) if language else None
    if language is not None and known is not None:
        cited.append(language["ref"])
    return known or ENGLISH


def _update(
    goal: str, context: Mapping[str, Any], by_key: Mapping[str, Mapping[str, Any]], phrases: Phrases, cited: list[str]
) -> str:
    """Return the context's figures in one sentence, the next actions in another: short, so that it obeys "concise"."""
    facts = ", ".join(_figure(name, value) for name, value in context.items() if not isinstance(value, Mapping | list))
    sentences = [f"{phrases.update} {facts}."]
    channel, timezone, style = (by_key.get(key) for key in ("update_channel", "timezone", "response_style"))
    if "action" in goal.lower() or "accion" in goal.lower() or channel:
        send = phrases.send
        if channel:
            send = f"{send} {phrases.via.format(channel['value'])}"
            cited.append(channel["ref"])
        status = next((_words(name) for name in context if name.endswith("status")), None)
        steps = [f"{phrases.monitor} {status}", send] if status else [send]
        sentences.append(f"{phrases.next_actions} {f' {phrases.and_} '.join(steps)}.")
    if timezone:
        note = phrases.times.format(timezone["value"])
        sentences.append(f"{note[0].upper()}{note[1:]}.")
        cited.append(timezone["ref"])
    if style and str(style["value"]).strip().casefold() in {"concise", "brief", "short"}:
        cited.append(style["ref"])
    return " ".join(sentences)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _figure(name: str, value: Any) -> str:
    if name.endswith("_rate") and isinstance(value, float):
        return f"{_words(name)} {value * 100:.3g}%"
    if name.endswith("_minutes"):
        return f"{_words(name.removesuffix('_minutes'))} {value} minutes"
    return f"{_words(name)} {value}"


def _preference_text(
    goal: str, by_key: Mapping[str, Mapping[str, Any]], phrases: Phrases, cited: list[str]
) -> str | None:
    if not _REQUEST.match(goal):
        return None
    words = frozenset(_WORD.findall(goal.casefold()))
    wishes = []
    for key, phrase in _PREFERENCES.items():
        if key in by_key and words & _SERVED[key]:
            wishes.append(phrase.format(by_key[key]["value"]))
            cited.append(by_key[key]["ref"])
    if not wishes:
        return None
    # "Find a flight to Rome" reads on as "the flight to Rome".
    return phrases.prioritize.format(_join_parts(wishes, phrases.and_), _REQUEST.sub("the ", goal).rstrip(".!? "))


def _join_parts(parts: Sequence[str], and_: str) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {and_} {parts[-1]}"


def _quote_memories(memories: Sequence[Mapping[str, Any]], phrases: Phrases, cited: list[str]) -> str:
    # If none is likely, the best are quoted all the same: the answer has said that no template fits.
    likely = [entry for entry in memories if (entry.get("relevance") or 0.0) >= LIKELY]
    return _quote((likely or memories)[:MAX_QUOTED], phrases, cited)


def _quote_profile(memories: Sequence[Mapping[str, Any]], phrases: Phrases, cited: list[str]) -> str:
    ends = accumulate(len(_quoted(entry)) + 1 for entry in memories)
    fitting = [entry for entry, end in zip(memories, ends, strict=True) if end <= MAX_PROFILE_CHARS]
    return _quote(fitting, phrases, cited)


def _quote(memories: Sequence[Mapping[str, Any]], phrases: Phrases, cited: list[str]) -> str:
    if not memories:
        return phrases.nothing
    cited.extend(entry["ref"] for entry in memories)
    return phrases.remembered.format(" ".join(map(_quoted, memories)))


def _quoted(entry: Mapping[str, Any]) -> str:
    label = f"{_words(str(entry['key']))}: " if entry.get("key") else ""
    return f"“{label}{entry['value']}”"


class ModelComposer:
    """Asks the model for one JSON object and returns it as it came. With `prose` an answer in plain words is taken as
    it is, citing nothing.
    """

    asks_model = True

    def __init__(
        self,
        completer: Completer,
        clock: Clock | None = None,
        *,
        max_answer_chars: int | None = None,
        prose: bool = False,
    ) -> None:
        self._completer = count_calls(completer)
        self._clock = clock
        self._max_answer_chars = max_answer_chars
        self._prose = prose

    def with_limit(self, max_answer_chars: int, *, prose: bool) -> ModelComposer:
        """Return the composer of answers of at most this number of characters: a longer one is refused."""
        return ModelComposer(self._completer, self._clock, max_answer_chars=max_answer_chars, prose=prose)

    async def compose(
        self, goal: str, context: Mapping[str, Any], memories: Sequence[Mapping[str, Any]], *, deadline: Deadline
    ) -> Any:
        """Return the model's JSON, unchecked. Raises ModelFailed, also for text that is neither strict JSON nor an
        answer in plain words that may be taken.
        """
        today = None if self._clock is None else self._clock.now().date()
        prompt = answer_prompt(goal, context, memories, max_answer_chars=self._max_answer_chars, today=today)
        if self._prose:
            completion = await self._completer.complete(replace(prompt, may_be_prose=True), deadline=deadline)
            said, data = without_thought(completion.text), None
            with suppress(ModelInvalidJson):
                data = parse_json(completion.text)
            if isinstance(data, Mapping) and "answer" in data:
                return data
            # What begins as JSON is a broken answer, for which the model is asked once more.
            if said and not said.startswith(_BEGINS_JSON):
                return {"answer": said, "used_memory_keys": []}
        completion = await self._completer.complete(prompt, deadline=deadline)
        return parse_json(completion.text)
