"""From settings to a running engine: the only file that knows every backend by name."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

from mnemic.clock import SystemClock
from mnemic.compose import Composer
from mnemic.compose.model import ModelComposer
from mnemic.compose.offline import OfflineComposer
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig, NotSupported
from mnemic.extract import Extractor
from mnemic.extract.model import ModelExtractor
from mnemic.extract.rules import RuleExtractor
from mnemic.extract.travel.airports import Airports, airports_of
from mnemic.guard import strict_json
from mnemic.guard.budget import Budget
from mnemic.guard.contract import parse_json
from mnemic.guard.execution import Grant
from mnemic.guard.policy import Policy
from mnemic.guard.policy_file import GuardFile, load_guard
from mnemic.guard.redaction import RedactionRules
from mnemic.kinds.profile import Profile
from mnemic.maintain.erase import ErasureReceipt
from mnemic.maintain.graph import GraphProjection
from mnemic.maintain.restore import erase_again, erased_since
from mnemic.ports import Clock, Completer, DocumentStore, Embedder, Keyring, RecordStore, SessionStore
from mnemic.ports.graph import GraphStore
from mnemic.ports.projections import Projection
from mnemic.retrieve.plan import ModelPlanner, Planner, RulePlanner
from mnemic.stores.session import InProcessSessions
from mnemic.types import Actor, checked_identifier
from mnemic.write.judge import ModelJudge
from mnemic.write.pipeline import WriteRules

if TYPE_CHECKING:
    from mnemic.stores.postgres.scratch import ScratchDatabase
    from mnemic.stores.sqlite.backup import Manifest

DEFAULT_MODEL = "gpt-4.1-mini"
BALLAST_BYTES = 4 * 1024 * 1024
"""Room kept beside the file, so that an erasure works on a full disk too: its batches need less."""
PROFILE_SUFFIXES, MAX_PROFILE_BYTES = (".json", ".toml", ".yaml", ".yml"), 64 * 1024
_POSTGRES = ("postgresql://", "postgres://")
_BOLT = ("neo4j://", "neo4j+s://", "neo4j+ssc://", "bolt://", "bolt+s://", "bolt+ssc://")


def build_engine(
    settings: Settings,
    *,
    policy: Policy | None = None,
    clock: Clock | None = None,
    completer: Completer | None = None,
) -> MemoryEngine:
    """An engine as `settings` describe it, not yet open. Raises InvalidConfig.

    With a language model configured (or `completer` given) it extracts, plans and answers; else rules and templates do.
    """
    clock = clock or SystemClock()
    guard, keyring = build_guard(settings, policy), build_keyring(settings)
    completer = completer or build_completer(settings, clock)
    extractor, planner, composer = _proposers(completer)
    sessions, copies = build_sessions(settings.sessions, clock)
    graph = build_graph(settings)
    return MemoryEngine(
        store=build_store(settings.store, durability=settings.durability, keyring=keyring, seals=settings.seal),
        embedder=build_embedder(settings, clock),
        clock=clock,
        policy=guard.policy,
        grant=guard.grant,
        budget=guard.budget,
        limits=guard.limits,
        redaction=with_names(guard.redaction),
        keyring=keyring,
        extractor=extractor,
        planner=planner,
        composer=composer,
        sessions=sessions,
        completer=completer,
        judge=ModelJudge(completer, clock.monotonic) if completer and guard.policy.judged else None,
        graph=graph,
        projections=copies if keeps_graph(settings) else [*copies, GraphProjection(graph)],
        rules=WriteRules(
            near_duplicate=settings.near_duplicate,
            conflict=settings.conflict,
            fixed=frozenset({"near_duplicate", "conflict"} & settings.model_fields_set),
        ),
        preference_bias=settings.preference_bias,
        max_tokens=settings.max_tokens,
    )


def _proposers(completer: Completer | None) -> tuple[Extractor, Planner, Composer]:
    if completer is None:
        return RuleExtractor(), RulePlanner(), OfflineComposer()
    return ModelExtractor(completer), ModelPlanner(completer), ModelComposer(completer)


def build_guard(settings: Settings, policy: Policy | None) -> GuardFile:
    """Policy, grant and budget: those of the policy file, with what the settings name themselves on top."""
    if policy is None and settings.policy is not None:
        guard = load_guard(settings.policy)
    else:
        policy = policy or Policy()
        guard = GuardFile(policy=policy, grant=Grant.of(policy), budget=Budget())
    if settings.trusted_keys is not None or settings.granted_levels is not None:
        levels = settings.granted_levels if settings.granted_levels is not None else guard.grant.levels
        guard = replace(guard, grant=Grant.of(guard.policy, trust=settings.trusted_keys or (), levels=levels))
    if settings.max_seconds is not None:
        guard = replace(guard, budget=replace(guard.budget, max_seconds=settings.max_seconds))
    return guard


def build_store(location: str, *, durability: str, keyring: Keyring | None = None, seals: bool = False) -> RecordStore:
    """The record store at `location`: a path, `sqlite:///path`, `postgresql://...`, or `memory:` for one that ends with
    the process. With a `keyring` it opens what is sealed, and where it `seals` it seals what is written. Raises
    InvalidConfig.
    """
    if seals and keyring is None:
        raise InvalidConfig("seal", hint="sealing needs the master key: name its file in MNEMIC_KEY_FILE")
    settled: Literal["durable", "fast"] = "fast" if durability == "fast" else "durable"
    if location == "memory:":
        from mnemic.stores.inprocess import InProcessStore

        return InProcessStore()
    if location.startswith(_POSTGRES):
        with _extra("postgres"):
            from mnemic.stores.postgres import PostgresStore

        return PostgresStore(location, durability=settled, keyring=keyring, seals=seals)
    from mnemic.stores.sqlite import SqliteStore

    path = sqlite_path(location)
    return SqliteStore(path, durability=settled, ballast_bytes=BALLAST_BYTES, keyring=keyring, seals=seals)


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


def build_sessions(location: str, clock: Clock) -> tuple[SessionStore, tuple[Projection, ...]]:
    """Conversations in progress in this process (`memory:`), or on Redis and with the hot set. Raises InvalidConfig."""
    if location == "memory:":
        return InProcessSessions(clock), ()
    with _extra("redis"):
        from mnemic.stores.redis import RedisHotSet, RedisLink, RedisSessions
    return RedisSessions(link := RedisLink(location)), (RedisHotSet(link),)


def build_keyring(settings: Settings) -> Keyring | None:
    """The data keys under the master key that `settings` name; None where they name none. Raises InvalidConfig."""
    if settings.key_file is None:
        return None
    from mnemic.keys import KeyFolder

    return KeyFolder(key_folder(settings.key_file, settings), settings.key_file)


def key_folder(key_file: Path, settings: Settings) -> Path:
    """Where the data keys lie: in the folder that is named, else beside the master key's file."""
    return settings.key_folder or key_file.with_name(f"{key_file.name}.d")


def build_graph(settings: Settings) -> GraphStore:
    """The graph of entities: in the store itself, unless `settings.graph` names a server. Raises InvalidConfig."""
    if settings.graph is not None:
        if not settings.graph.startswith(_BOLT):
            raise InvalidConfig("graph", hint="use neo4j://user:password@host:port/database, or bolt://")
        with _extra("neo4j"):
            from mnemic.stores.neo4j import Neo4jGraph
        return Neo4jGraph(settings.graph)
    if settings.store == "memory:":
        from mnemic.stores.graph import InProcessGraph

        return InProcessGraph()
    if settings.store.startswith(_POSTGRES):
        with _extra("postgres"):
            from mnemic.stores.postgres.graph import PostgresGraph
        return PostgresGraph(settings.store)
    from mnemic.stores.sqlite.graph import SqliteGraph

    return SqliteGraph(sqlite_path(settings.store))


def keeps_graph(settings: Settings) -> bool:
    """Whether the store writes the graph together with the memories; else the outbox feeds it."""
    return settings.graph is None and settings.store != "memory:"


def build_documents(location: str) -> DocumentStore:
    """The documents in the store at `location`: a path, `sqlite:///path` or `postgresql://...`. Raises NotSupported for
    `memory:`.
    """
    if location == "memory:":
        raise NotSupported("documents:memory", hint="documents are kept; LangGraph has an InMemoryStore")
    if location.startswith(_POSTGRES):
        with _extra("postgres"):
            from mnemic.stores.postgres import PostgresDocuments

        return PostgresDocuments(location)
    from mnemic.stores.sqlite.documents import SqliteDocuments

    return SqliteDocuments(sqlite_path(location))


def backup_store(location: str, folder: Path, clock: Clock) -> Manifest:
    """A copy of the store at `location` in the new `folder`. Raises NotSupported where it is not in a file."""
    from mnemic.stores.sqlite.backup import take

    path = store_file(location)
    if path is None:
        raise NotSupported("backup", hint="only a memory file is copied; for PostgreSQL use pg_dump of schema mnemic")
    return take(path, folder, clock.now())


def restore_store(
    folder: Path,
    target: str,
    clock: Clock,
    *,
    erasures: str | None,
    receipts: Sequence[ErasureReceipt],
    keyring: Keyring | None = None,
) -> tuple[Manifest, list[ErasureReceipt]]:
    """The backup in `folder` as the new file `target`, without those who were erased since: as the store at `erasures`
    tells, or `receipts`; `keyring` opens what is sealed in it. Raises InvalidInput, StoreCorrupt, StoreNewer,
    NotSupported.
    """
    from mnemic.stores.sqlite.backup import restore

    path = store_file(target)
    if path is None:
        raise NotSupported("restore", hint="a backup is restored into a memory file")
    erased: list[ErasureReceipt] = []

    async def prepared(part: Path, manifest: Manifest) -> None:
        later = None if erasures is None else build_store(erasures, durability="durable", keyring=keyring)
        copy = build_store(str(part), durability="durable", keyring=keyring)
        for store in filter(None, (copy, later)):
            await store.open(None)
        try:
            for tenant in manifest.tenants:
                known = {} if later is None else await erased_since(later, tenant, manifest.taken_at)
                known |= {one.subject: one.blocks_relearning for one in receipts if one.tenant == tenant}
                erased.extend(await erase_again(copy, clock, tenant, known, actor=Actor(tenant=tenant, user="restore")))
        finally:
            for store in filter(None, (copy, later)):
                await store.close()

    def run(part: Path, manifest: Manifest) -> None:
        asyncio.run(prepared(part, manifest))

    return restore(folder, path, run), erased


@contextmanager
def _extra(name: str) -> Iterator[None]:
    """Raises InvalidConfig (`invalid_config:store:<name>`) where an import inside finds a package missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        raise InvalidConfig(f"store:{name}", hint=f"install mnemic[{name}] for this address") from missing


def build_scratch(server: str) -> ScratchDatabase:
    """A database of its own on the server at `server`, for a measurement. Raises InvalidConfig for what is no
    `postgresql://` address.
    """
    if not server.startswith(_POSTGRES):
        raise InvalidConfig("store", hint="a file is measured without an address; a server by postgresql://...")
    with _extra("postgres"):
        from mnemic.stores.postgres.scratch import ScratchDatabase

    return ScratchDatabase(server)


def store_file(location: str) -> Path | None:
    """The file that `location` names, or None where it names no file. Raises InvalidConfig."""
    return None if location == "memory:" or location.startswith(_POSTGRES) else sqlite_path(location)


def sqlite_path(location: str) -> Path:
    """The file that `location` names. Raises InvalidConfig (`invalid_config:store`) for a scheme that is not known."""
    if "://" not in location:
        return Path(location)
    parts = urlsplit(location)
    if parts.scheme != "sqlite" or parts.netloc or not parts.path.strip("/"):
        raise InvalidConfig("store", hint="use a path, sqlite:///path, postgresql://... or memory:")
    return Path(unquote(parts.path.removeprefix("/")))


def build_embedder(settings: Settings, clock: Clock) -> Embedder:
    """The embedder that `settings` name."""
    if settings.embedder == "minilm":
        from mnemic.providers.minilm import MiniLmEmbedder

        return MiniLmEmbedder(threads=settings.embedder_threads)
    if not (settings.embedder_url and settings.embedder_model and settings.embedder_dimension):
        raise InvalidConfig("embedder", hint="embedder=http needs embedder_url, embedder_model and embedder_dimension")
    from mnemic.providers.http_embedder import HttpEmbedder
    from mnemic.providers.retrying import RetryingEmbedder

    inner = HttpEmbedder(
        base_url=settings.embedder_url,
        model=settings.embedder_model,
        dimension=settings.embedder_dimension,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
    )
    return RetryingEmbedder(inner, clock)


def build_profile(settings: Settings, agent: str) -> Profile | None:
    """The profile of `agent` in the folder of personas; None where there is no folder, or no file of that name. Raises
    InvalidConfig.
    """
    folder = settings.personas
    if folder is None:
        return None
    files = [folder / f"{checked_identifier(agent, 'agent')}{suffix}" for suffix in PROFILE_SUFFIXES]
    found = [file for file in files if file.is_file() and file.resolve().parent == folder.resolve()]
    if len(found) > 1:
        raise InvalidConfig("persona:file", hint=f"more than one profile: {', '.join(file.name for file in found)}")
    return load_profile(found[0]) if found else None


def load_profile(path: Path) -> Profile:
    """The profile in a JSON, TOML or YAML file of at most 64 KiB. Raises InvalidConfig
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
        return Profile.of(_parsed(text, path.suffix))
    except (strict_json.NotStrictJson, tomllib.TOMLDecodeError) as error:
        raise InvalidConfig("persona:file", hint=str(error)) from None


def _parsed(text: str, suffix: str) -> object:
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


@cache
def build_airports() -> Airports:
    """The table of airports, where the extra `travel` is installed; else an empty one."""
    try:
        from mnemic.providers.airports import airport_rows
    except ModuleNotFoundError:
        return Airports()
    return airports_of(airport_rows())


def build_completer(settings: Settings, clock: Clock) -> Completer | None:
    """The language model behind an OpenAI-compatible server, with retries; None where none is configured."""
    if not settings.has_model:
        return None
    from mnemic.providers.openai import OpenAICompleter
    from mnemic.providers.retrying import RetryingCompleter

    inner = OpenAICompleter(
        model=settings.model or DEFAULT_MODEL,
        base_url=settings.model_url,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        timeout=settings.model_timeout_seconds,
    )
    return RetryingCompleter(inner, clock, check=parse_json)
