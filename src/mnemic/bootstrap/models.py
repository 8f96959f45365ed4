"""Models by name: embedder, completer, the search for names, the table of airports."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from mnemic.config import Settings
from mnemic.errors import InvalidConfig
from mnemic.guard.policy import EntityReading
from mnemic.guard.redaction import RedactionRules

if TYPE_CHECKING:
    from mnemic.extract.entities import EntityReader
    from mnemic.extract.travel.airports import Airports
    from mnemic.ports import Clock, Completer, Embedder, Reranker

DEFAULT_MODEL = "gpt-4.1-mini"


def build_embedder(settings: Settings, clock: Clock) -> Embedder:
    """The embedder that `settings` name."""
    if settings.embedder == "minilm":
        from mnemic.providers.minilm import MiniLmEmbedder

        return MiniLmEmbedder(threads=settings.embedder_threads)
    if not (settings.embedder_url and settings.embedder_model and settings.embedder_dimension):
        raise InvalidConfig("embedder", hint="embedder=http needs embedder_url, embedder_model and embedder_dimension")
    from mnemic.providers.breaker import BreakingEmbedder
    from mnemic.providers.http_embedder import HttpEmbedder
    from mnemic.providers.retrying import RetryingEmbedder

    inner = HttpEmbedder(
        base_url=settings.embedder_url,
        model=settings.embedder_model,
        dimension=settings.embedder_dimension,
        api_key=settings.key_for("embedder_url"),
    )
    return BreakingEmbedder(RetryingEmbedder(inner, clock), clock)


def build_completer(settings: Settings, clock: Clock) -> Completer | None:
    """The language model behind an OpenAI-compatible server, with retries; None where none is configured."""
    if not settings.has_model:
        return None
    from mnemic.guard.contract import parse_json
    from mnemic.providers.breaker import BreakingCompleter
    from mnemic.providers.openai import OpenAICompleter
    from mnemic.providers.retrying import RetryingCompleter

    inner = OpenAICompleter(
        model=settings.model or DEFAULT_MODEL,
        base_url=settings.model_url,
        api_key=settings.key_for("model_url"),
        timeout=settings.model_timeout_seconds,
    )
    return BreakingCompleter(RetryingCompleter(inner, clock, check=parse_json), clock)


def build_reranker(settings: Settings, clock: Clock) -> Reranker | None:
    """The reranker that the settings name; None where they name none. Raises InvalidConfig
    (`invalid_config:reranker`).
    """
    if settings.reranker == "none":
        return None
    if not settings.reranker_url or not (settings.reranker_model or settings.reranker == "tei"):
        raise InvalidConfig("reranker", hint="a reranker needs reranker_url and reranker_model")
    from mnemic.providers.http_reranker import HttpReranker

    key = settings.reranker_key
    return HttpReranker(
        settings.reranker_url,
        settings.reranker_model or "",
        clock,
        api_key=None if key is None else key.get_secret_value(),
        protocol=settings.reranker,
    )


def build_tokenizer(settings: Settings) -> Any:
    """The vocabulary that the settings name; None where they name none. Raises InvalidConfig
    (`invalid_config:tokenizer`), and MissingExtra without tiktoken.
    """
    if settings.tokenizer is None:
        return None
    from mnemic.providers.vocabulary import tokenizer_named

    return tokenizer_named(settings.tokenizer, settings.model or DEFAULT_MODEL)


def with_names(rules: RedactionRules) -> RedactionRules:
    """The rules with a detector for the names they ask for. Raises InvalidConfig (`invalid_config:redaction.names`)
    where nothing is installed that could find them.
    """
    if not rules.names:
        return rules
    try:
        from mnemic.providers.spacy_names import name_detectors
    except ModuleNotFoundError as missing:
        raise InvalidConfig("redaction.names", hint="install mnemic[ner] to look for names") from missing
    return replace(rules, detectors=(*rules.detectors, *name_detectors(rules.names)))


def build_entity_reader(reads: EntityReading, completer: Completer | None) -> EntityReader:
    """Build the reader that notices entities in ordinary texts. Raises InvalidConfig (`invalid_config:entities.read`)
    where what it needs is not there.
    """
    from mnemic.extract.entities.model import ModelEntityReader
    from mnemic.extract.entities.ner import NamesEntityReader
    from mnemic.extract.entities.rules import RuleEntityReader

    if reads == "rules":
        return RuleEntityReader()
    if reads == "model":
        if completer is None:
            raise InvalidConfig("entities.read", hint="no language model is configured")
        return ModelEntityReader(completer)
    try:
        from mnemic.providers.spacy_names import name_finder
    except ModuleNotFoundError as missing:
        raise InvalidConfig("entities.read", hint="install mnemic[ner] to look for names") from missing
    return NamesEntityReader(name_finder())


@cache
def build_airports() -> Airports:
    """The table of airports, where the extra `travel` is installed; else an empty one."""
    from mnemic.extract.travel.airports import Airports, airports_of

    try:
        from mnemic.providers.airports import airport_rows
    except ModuleNotFoundError:
        return Airports()
    return airports_of(airport_rows())
