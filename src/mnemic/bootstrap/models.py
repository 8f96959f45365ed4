"""Models by name: completer, reranker, their roles in an engine, and detectors of names."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mnemic.bootstrap.stores import offered_as
from mnemic.compose.template_composer import ModelComposer
from mnemic.config import Settings
from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.kinds.entity_readers.model_reader import LayeredEntityReader
from mnemic.kinds.entity_readers.ner import NamesEntityReader
from mnemic.kinds.entity_readers.rules import RuleEntityReader
from mnemic.kinds.persona import Profile
from mnemic.models.http_embedder import HttpEmbedder
from mnemic.models.http_reranker import HttpReranker
from mnemic.models.openai_client import require_client
from mnemic.models.openai_completer import OpenAICompleter
from mnemic.plugins import is_offered, scheme_of
from mnemic.plugins.extras import missing_extra
from mnemic.policy import strict_json
from mnemic.policy.key_rules import EntityReading
from mnemic.policy.proposal_check import parse_json
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.providers.model_breakers import BreakingCompleter, BreakingEmbedder
from mnemic.providers.retrying import RetryingCompleter, RetryingEmbedder
from mnemic.retrieve.intent_planning import ModelPlanner
from mnemic.types import checked_identifier
from mnemic.write.model_judge import ModelJudge, ModelTranslator

if TYPE_CHECKING:
    from mnemic.extract import Extractor
    from mnemic.extract.entities import EntityReader
    from mnemic.models.http_reranker import Protocol
    from mnemic.ports import Clock, Completer, Embedder, Reranker


def build_embedder(settings: Settings, clock: Clock) -> Embedder:
    """Return the embedder that `settings` name. Raises InvalidConfig (`invalid_config:openai` without the client)."""
    if settings.embedder == "minilm":
        return MiniLmEmbedder(threads=settings.embedder_threads)
    if settings.embedder != "http":
        offered: Embedder = offered_as("embedders", settings.embedder)(settings=settings, clock=clock)
        return offered
    if not (settings.embedder_url and settings.embedder_model and settings.embedder_dimension):
        raise InvalidConfig("embedder", hint="embedder=http needs embedder_url, embedder_model and embedder_dimension")
    require_client()
    inner = HttpEmbedder(
        base_url=settings.embedder_url,
        model=settings.embedder_model,
        dimension=settings.embedder_dimension,
        api_key=settings.key_for("embedder_url"),
    )
    return BreakingEmbedder(RetryingEmbedder(inner, clock), clock)


DEFAULT_MODEL = "gpt-4.1-mini"
_HTTP = ("http", "https")
_PROTOCOLS: tuple[Protocol, ...] = ("cohere", "jina", "voyage", "tei")
_CLIENTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "anthropic": ("anthropic", "anthropic"),
        "gemini": ("gemini", "google.genai"),
        "bedrock": ("bedrock", "boto3"),
        "azure": ("azure-openai", "openai"),
        "ollama": ("ollama", "openai"),
    }
)
"""The vendors that a model's name may begin with: the extra that brings each, and the module of its client."""


def build_completer(settings: Settings, clock: Clock) -> Completer | None:
    """Return the language model of an OpenAI-compatible server, with retries; None if none is configured."""
    if not settings.has_model:
        return None
    vendor, scheme = vendor_of(settings), scheme_of(settings.model_url or "")
    if vendor is not None:
        inner: Completer = _of_vendor(vendor)(settings.model, settings=settings, clock=clock)
    elif scheme is not None and scheme not in _HTTP:
        inner = offered_as("completers", scheme)(settings.model_url, settings=settings, clock=clock)
    else:
        inner = _over_http(settings)
    return BreakingCompleter(RetryingCompleter(inner, clock, check=parse_json), clock)


def vendor_of(settings: Settings) -> str | None:
    """Return the vendor that the model's name begins with, as in `anthropic:claude-sonnet-5`; None for other names."""
    vendor, colon, _ = (settings.model or "").partition(":")
    return vendor if colon and (vendor in _CLIENTS or is_offered("completers", vendor)) else None


def missing_client(settings: Settings) -> str | None:
    """Describe the missing package of the configured model; None if nothing is missing."""
    vendor = vendor_of(settings)
    if vendor is None and scheme_of(settings.model_url or "https://") not in _HTTP:
        return None
    extra, client = _CLIENTS.get(vendor, ("", "")) if vendor is not None else ("openai", "openai")
    if not extra or (_is_installed("mnemic.models") and _is_installed(client)):
        return None
    return f"its client is not installed: pip install 'mnemic[{extra}]'"


def _of_vendor(vendor: str) -> Callable[..., Completer]:
    """Return the factory of a vendor's models. Raises MissingExtra if its package is not installed."""
    extra, client = _CLIENTS.get(vendor, ("", ""))
    if extra and not (is_offered("completers", vendor) and _is_installed(client)):
        raise missing_extra(extra)
    return offered_as("completers", vendor)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of a package above it
        return False


def _over_http(settings: Settings) -> Completer:
    # An engine opens without OpenAI's client, and works by rules; the error of the first call names the package to
    # install.
    return OpenAICompleter(
        model=settings.model or DEFAULT_MODEL,
        base_url=settings.models_address,
        api_key=settings.key_for("model_url"),
        timeout=settings.model_timeout_seconds,
    )


def build_extractor(settings: Settings, embedder: Embedder, completer: Completer | None) -> Extractor | None:
    """Return the extractor that the settings name; None for the engine's own choice. Raises InvalidConfig
    (`invalid_config:plugin:<name>`).
    """
    if settings.extractor == "auto":
        return None
    if settings.extractor == "rules":
        return RuleExtractor(embedder)
    offered: Extractor = offered_as("extractors", settings.extractor)(
        settings=settings, embedder=embedder, completer=completer
    )
    return offered


def build_reranker(settings: Settings, clock: Clock) -> Reranker | None:
    """Return the reranker that the settings name; None if they name none. Raises InvalidConfig
    (`invalid_config:reranker`, `:openai` without the client).
    """
    if settings.reranker == "none":
        return None
    protocol = next((known for known in _PROTOCOLS if known == settings.reranker), None)
    if protocol is None:
        offered: Reranker = offered_as("rerankers", settings.reranker)(settings=settings, clock=clock)
        return offered
    if not settings.reranker_url or not (settings.reranker_model or protocol == "tei"):
        raise InvalidConfig("reranker", hint="a reranker needs reranker_url and reranker_model")
    require_client()
    key = settings.reranker_key
    return HttpReranker(
        settings.reranker_url,
        settings.reranker_model or "",
        clock,
        api_key=None if key is None else key.get_secret_value(),
        protocol=protocol,
    )


def build_tokenizer(settings: Settings) -> Any:
    """Return the vocabulary that the settings name; None if they name none. Raises InvalidConfig
    (`invalid_config:tokenizer`), and MissingExtra without tiktoken.
    """
    if settings.tokenizer is None:
        return None
    from mnemic.providers.vocabulary import tokenizer_named  # needs tiktoken, which an extra brings

    return tokenizer_named(settings.tokenizer, settings.model or DEFAULT_MODEL)


def with_names(rules: RedactionRules) -> RedactionRules:
    """Return the rules with a detector for the names they ask for. Raises InvalidConfig
    (`invalid_config:redaction.names`) if no package that could find them is installed.
    """
    if not rules.names:
        return rules
    try:
        from mnemic.providers.spacy_names import name_detectors
    except ModuleNotFoundError as missing:
        raise missing_extra("ner", setting="redaction.names") from missing
    return replace(rules, detectors=(*rules.detectors, *name_detectors(rules.names)))


def with_detectors(rules: RedactionRules) -> RedactionRules:
    """Return the rules with the detectors that packages offer for the entities they name and nothing here finds. Raises
    InvalidConfig (`invalid_config:plugin:<entity>`).
    """
    known = {detector.entity for detector in rules.detectors}
    named = [entity for entity in sorted(rules.actions) if entity not in known and is_offered("detectors", entity)]
    if not named:
        return rules
    made = tuple(offered_as("detectors", entity)() for entity in named)
    if wrong := [entity for entity, detector in zip(named, made, strict=True) if detector.entity != entity]:
        raise InvalidConfig(f"plugin:{wrong[0]}", hint="the detector's entity is not the name of its entry point")
    return replace(rules, detectors=(*rules.detectors, *made))


def build_entity_reader(reads: EntityReading, completer: Completer | None) -> EntityReader:
    """Build the reader that extracts entities from ordinary texts. Raises InvalidConfig
    (`invalid_config:entities.read`) if its requirements are not met.
    """
    if reads == "rules":
        return RuleEntityReader()
    if reads == "model":
        if completer is None:
            raise InvalidConfig("entities.read", hint="no language model is configured")
        return LayeredEntityReader(completer)
    try:
        from mnemic.providers.spacy_names import name_finder
    except ModuleNotFoundError as missing:
        raise InvalidConfig("entities.read", hint="install mnemic[ner] to look for names") from missing
    return NamesEntityReader(name_finder())


def _proposing(
    settings: Settings, completer: Completer | None, embedder: Embedder, clock: Clock, *, judged: bool
) -> dict[str, Any]:
    """Build the roles of a language model in the engine, if there is one, and the configured extractor."""
    parts = {} if completer is None else _asking(settings, completer, embedder, clock, judged=judged)
    extractor = build_extractor(settings, embedder, completer)
    return parts if extractor is None else {**parts, "extractor": extractor}


def _asking(
    settings: Settings, completer: Completer, embedder: Embedder, clock: Clock, *, judged: bool
) -> dict[str, Any]:
    """Build the roles of a language model: it extracts, plans, answers and translates, and judges if policy
    requires it.
    """
    reader = build_model_reader(settings, completer)
    return {
        "extractor": LayeredExtractor(reader, RuleExtractor(embedder)),
        # A model that is asked for the user's words alone translates no better than it labels.
        "translator": None if reader.quotes_only else ModelTranslator(completer, clock.monotonic),
        "planner": ModelPlanner(completer, clock),
        "composer": ModelComposer(completer, clock),
        "judge": ModelJudge(completer, clock.monotonic) if judged else None,
    }


def build_model_reader(settings: Settings, completer: Completer) -> ModelExtractor:
    """Return the reading of messages by a language model that the settings describe."""
    return ModelExtractor(
        completer,
        instructions=settings.extraction_instructions or "",
        categories=sorted(settings.categories or ()),
        quotes_only=None if settings.model_form == "auto" else settings.model_form == "quotes",
    )


def build_models(
    settings: Settings,
    clock: Clock,
    embedder: Embedder,
    *,
    completer: Completer | None,
    tokenizer: Any,
    judged: bool,
) -> dict[str, Any]:
    """Build the configured components besides the embedder, as arguments of an engine: a language model, its roles, a
    reranker, a tokenizer, an extractor. `completer` and `tokenizer` override those of the settings; `judged`: policy
    requires a judge. Raises InvalidConfig.
    """
    completer = completer or build_completer(settings, clock)
    return {
        "completer": completer,
        "tokenizer": tokenizer or build_tokenizer(settings),
        "reranker": build_reranker(settings, clock),
        **_proposing(settings, completer, embedder, clock, judged=judged),
    }


PROFILE_SUFFIXES, MAX_PROFILE_BYTES = (".json", ".toml", ".yaml", ".yml"), 64 * 1024


def build_profile(settings: Settings, agent: str) -> Profile | None:
    """Return the profile of `agent` in the folder of personas; None if there is no folder, or no file of that name, as
    for an agent name that is no identifier. Raises InvalidConfig.
    """
    folder = settings.personas
    if folder is None:
        return None
    try:
        files = [folder / f"{checked_identifier(agent, 'agent')}{suffix}" for suffix in PROFILE_SUFFIXES]
    except InvalidInput:
        return None
    found = [file for file in files if file.is_file() and file.resolve().parent == folder.resolve()]
    if len(found) > 1:
        raise InvalidConfig("persona:file", hint=f"more than one profile: {', '.join(file.name for file in found)}")
    return load_profile(found[0]) if found else None


def load_profile(path: Path) -> Profile:
    """Return the profile in a JSON, TOML or YAML file of at most 64 KiB. Raises InvalidConfig
    (`invalid_config:persona:<what>`).
    """
    try:
        with path.open("rb") as file:
            text = file.read(MAX_PROFILE_BYTES + 1).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        raise InvalidConfig("persona:file", hint="it cannot be read as text") from None
    if len(text.encode()) > MAX_PROFILE_BYTES:
        raise InvalidConfig("persona:file", hint=f"more than {MAX_PROFILE_BYTES} bytes")
    try:
        return Profile.from_data(_parse_profile(text, path.suffix))
    except (strict_json.NotStrictJson, tomllib.TOMLDecodeError) as error:
        raise InvalidConfig("persona:file", hint=str(error)) from None


def _parse_profile(text: str, suffix: str) -> object:
    if suffix == ".json":
        return strict_json.loads(text)
    if suffix == ".toml":
        return tomllib.loads(text)
    try:
        from mnemic.providers.yaml_text import NotPlainYaml, loads
    except ModuleNotFoundError as missing:
        raise InvalidConfig("persona:yaml", hint="install mnemic[yaml], or write JSON or TOML") from missing
    try:
        return loads(text)
    except NotPlainYaml as error:
        raise InvalidConfig("persona:file", hint=str(error)) from None
