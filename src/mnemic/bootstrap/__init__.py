"""Construction of an engine from settings: finds every backend by its URL.

Backends that no URL or setting asks for are not loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from mnemic.bootstrap.models import (
    DEFAULT_MODEL,
    build_completer,
    build_embedder,
    build_entity_reader,
    build_extractor,
    build_models,
    build_profile,
    build_reranker,
    load_profile,
    with_detectors,
    with_names,
)
from mnemic.bootstrap.stores import (
    build_copies,
    build_documents,
    build_graph,
    build_keyring,
    build_sessions,
    build_store,
    keeps_graph,
    key_folder,
    sqlite_path,
    store_file,
)
from mnemic.config import Settings
from mnemic.dispatch import Middleware
from mnemic.engine import MemoryEngine
from mnemic.extract.file_reader import FileReader
from mnemic.graph.projection import GraphProjection
from mnemic.kinds.entity_noticing import EntityNoticing
from mnemic.policy.budget import MODELS_SHARE, Budget
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import Policy
from mnemic.policy.policy_file import PolicyBundle
from mnemic.policy.proposal_check import parse_json
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.providers.model_breakers import BreakingCompleter
from mnemic.providers.plain_functions import FunctionCompleter, completer_from, embedder_from, reranker_from
from mnemic.providers.retrying import RetryingCompleter
from mnemic.retrieve.answer_judgement import judges
from mnemic.runtime.clock import SystemClock
from mnemic.tracing import MemorySpans
from mnemic.write.draft import WriteRules

if TYPE_CHECKING:
    from mnemic.policy.redaction_policy import RedactionRules
    from mnemic.ports import Clock, Completer, Embedder, Keyring, Reranker
    from mnemic.ports.further_stores import GraphStore
    from mnemic.ports.projections import Projection
    from mnemic.providers.plain_functions import EmbedFunction, ModelFunction, RerankFunction


__all__ = [
    "DEFAULT_MODEL",
    "build_completer",
    "build_documents",
    "build_embedder",
    "build_engine",
    "build_entity_reader",
    "build_extractor",
    "build_graph",
    "build_keyring",
    "build_middleware",
    "build_policy_bundle",
    "build_profile",
    "build_reranker",
    "build_sessions",
    "build_store",
    "build_write_rules",
    "keeps_graph",
    "key_folder",
    "load_profile",
    "sqlite_path",
    "store_file",
    "with_detectors",
    "with_names",
]


def build_engine(
    settings: Settings,
    *,
    policy: Policy | None = None,
    clock: Clock | None = None,
    embedder: Embedder | EmbedFunction | None = None,
    completer: Completer | ModelFunction | None = None,
    reranker: Reranker | RerankFunction | None = None,
    tokenizer: Any = None,
) -> MemoryEngine:
    """Return an engine as described by `settings`, not opened yet. Raises InvalidConfig.

    If a language model is configured (or `completer` given), it extracts, plans and answers; else rules and templates
    do. `embedder`, `completer` and `reranker` replace those of the settings: objects of `mnemic.ports`, or plain
    functions (`mnemic.providers.plain_functions`). `tokenizer` counts the tokens of model inputs
    (`mnemic.inject.token_count.counter_of`) in place of the settings'.
    """
    clock = clock or SystemClock()
    bundle, keyring = build_policy_bundle(settings, policy), _keyring(settings)
    sessions, copies = build_sessions(settings.sessions, clock)
    graph = build_graph(settings)
    vectors = build_embedder(settings, clock) if embedder is None else embedder_from(embedder, settings.embedder_model)
    completer = None if completer is None else _with_retries(completer_from(completer), clock)
    models: dict[str, Any] = {}
    if completer is not None or tokenizer is not None or settings.names_models:
        given: dict[str, Any] = {"completer": completer, "tokenizer": tokenizer, "judged": bundle.policy.judged}
        models = build_models(settings, clock, vectors, **given)
    if reranker is not None:
        models["reranker"] = reranker_from(reranker)
    engine = MemoryEngine(
        store=build_store(settings.store, durability=settings.durability, keyring=keyring, seals=settings.seal),
        embedder=vectors,
        clock=clock,
        policy=bundle.policy,
        grant=bundle.grant,
        budget=bundle.budget,
        limits=bundle.limits,
        reads=bundle.entities,
        redaction=_with_detectors(bundle.redaction),
        keyring=keyring,
        sessions=sessions,
        graph=graph,
        projections=[*copies, *_graph_projections(settings, graph), *_copies(settings, vectors)],
        rules=build_write_rules(settings),
        middleware=build_middleware(bundle, models.get("completer")),
        preference_bias=settings.preference_bias,
        max_tokens=settings.max_tokens,
        answers=None if judges(vectors) else MiniLmEmbedder(threads=settings.embedder_threads),
        files=_file_reader(settings, models.get("completer")),
        **models,
    )
    engine.background = _reads_later(settings, models)
    engine.background_seconds = settings.background_seconds
    if settings.tracing:
        engine.watchers.spans = MemorySpans.of_provider()
    return engine


def _with_retries(completer: Completer, clock: Clock) -> Completer:
    """Return a language model as it is given, or with retries if it is a function, which has none."""
    if not isinstance(completer, FunctionCompleter):
        return completer
    return BreakingCompleter(RetryingCompleter(completer, clock, check=parse_json), clock)


def _file_reader(settings: Settings, completer: Completer | None) -> FileReader:
    """Return what the settings want done with the pictures, recordings and files in messages."""
    return FileReader(completer=None if settings.files == "note" else completer, keeps=settings.files == "keep")


def _reads_later(settings: Settings, models: Mapping[str, Any]) -> bool:
    """Return True if a chat turn leaves its messages to be read later: as set, by default if a model reads them."""
    if settings.background is not None:
        return settings.background
    return settings.extractor == "auto" and models.get("completer") is not None


def _keyring(settings: Settings) -> Keyring | None:
    """Return the data keys under the master key of `settings`; None if they name none."""
    if settings.key_file is None:
        return None
    return build_keyring(settings)


def _with_detectors(rules: RedactionRules) -> RedactionRules:
    """Return the rules with the detectors of names, and of packages, that they ask for."""
    if not rules.names and not rules.actions:
        return rules
    return with_detectors(with_names(rules))


def _copies(settings: Settings, embedder: Embedder) -> list[Projection]:
    """Return the consumers of the copies that the store's URL names; a path names none."""
    if "://" not in settings.store:
        return []
    return build_copies(settings.store, dimension=embedder.space.dimension, sealed=settings.seal)


def _graph_projections(settings: Settings, graph: GraphStore) -> list[Projection]:
    """Return the graph as a projection, unless the store writes it with the memories."""
    if keeps_graph(settings):
        return []
    return [GraphProjection(graph)]


def build_middleware(bundle: PolicyBundle, completer: Completer | None) -> tuple[Middleware, ...]:
    """Build the middleware that the policy file asks for: entity extraction from ordinary texts."""
    if bundle.entities is None:
        return ()
    return (EntityNoticing(build_entity_reader(bundle.entities, completer)),)


def build_write_rules(settings: Settings) -> WriteRules:
    """Return the thresholds of writes."""
    zone = UTC if settings.timezone == "UTC" else ZoneInfo(settings.timezone)
    return WriteRules(near_duplicate=settings.near_duplicate, conflict=settings.conflict, zone=zone)


def build_policy_bundle(settings: Settings, policy: Policy | None) -> PolicyBundle:
    """Return policy, grant and budget: those of the policy file, overridden by explicit settings."""
    if policy is None and settings.policy is not None:
        from mnemic.policy.policy_file import load_policy_bundle  # loads pydantic, for a policy file alone

        bundle = load_policy_bundle(settings.policy)
    else:
        policy = policy or Policy()
        bundle = PolicyBundle(policy=policy, grant=Grant.from_policy(policy), budget=Budget())
    if settings.trusted_keys is not None or settings.granted_levels is not None:
        levels = settings.granted_levels if settings.granted_levels is not None else bundle.grant.levels
        bundle = replace(
            bundle, grant=Grant.from_policy(bundle.policy, trust=settings.trusted_keys or (), levels=levels)
        )
    seconds = settings.max_seconds
    if seconds is None and not bundle.sets_time and settings.sets_model_timeout:
        # A model that may take two minutes is of no use to a turn that ends before.
        seconds = max(bundle.budget.max_seconds, settings.model_timeout_seconds / MODELS_SHARE)
    return bundle if seconds is None else replace(bundle, budget=replace(bundle.budget, max_seconds=seconds))
