"""Old import names of what moved within the package or became a package beside it; each is an alias for one release.

It is loaded when a module `mnemic.<name>` is imported that the package does not have (`mnemic._OldNames`).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    Loader = object

MOVED = {
    "mnemic.administration_verbs": "mnemic_maintenance.administration_verbs",
    "mnemic.background_capture": "mnemic.engine.background_capture",
    "mnemic.bootstrap.backends": "mnemic.bootstrap.plugin_backends",
    "mnemic.bootstrap.backups": "mnemic_operations.store_operations",
    "mnemic.bootstrap.reembedding": "mnemic_operations.reembedding",
    "mnemic.bootstrap.copies": "mnemic.bootstrap.copies_and_replicas",
    "mnemic.bootstrap.documents": "mnemic.bootstrap.document_stores",
    "mnemic.bootstrap.graphs": "mnemic.bootstrap.graph_stores",
    "mnemic.bootstrap.sessions": "mnemic.bootstrap.session_stores",
    "mnemic.bootstrap.stores": "mnemic.bootstrap.record_stores",
    "mnemic.catalog": "mnemic.types.catalog",
    "mnemic.changing": "mnemic.engine.implied_changes",
    "mnemic.circuit_breaker": "mnemic.runtime.circuit_breaker",
    "mnemic.clock": "mnemic.runtime.clock",
    "mnemic.compare.frame": "mnemic_language.compare.statement_frame",
    "mnemic.compare.sorts": "mnemic_language.compare.exclusive_values",
    "mnemic.conditions": "mnemic.types.conditions",
    "mnemic.config.declarations": "mnemic.config.parsing",
    "mnemic.config_fields": "mnemic.config.parsing",
    "mnemic.conversations": "mnemic_importers.conversations",
    "mnemic.conversations.importer": "mnemic_importers.conversations.importer_interface",
    "mnemic.conversations.packed": "mnemic_importers.conversations.multi_file_exports",
    "mnemic.conversations.times": "mnemic_importers.conversations.timestamps",
    "mnemic.door": "mnemic.dispatch",
    "mnemic.door.handlers.portions": "mnemic.dispatch.handlers.quota_batches",
    "mnemic.door.handlers.recording": "mnemic.dispatch.handlers.messages",
    "mnemic.door.handlers.reviewing": "mnemic_maintenance.handlers.review",
    "mnemic.door.handlers.revising": "mnemic.dispatch.handlers.update",
    "mnemic.door.handlers.stewarding": "mnemic_maintenance.handlers.administration",
    "mnemic.door.handlers.writing": "mnemic.dispatch.handlers.add",
    "mnemic.engine.carrying_out": "mnemic_maintenance.confirmed_requests",
    "mnemic.engine.changing": "mnemic.engine.implied_changes",
    "mnemic.engine.maintaining": "mnemic_maintenance.maintenance_run",
    "mnemic.engine.proposing": "mnemic.engine.extraction",
    "mnemic.engine.remembering": "mnemic.engine.message_forms",
    "mnemic.entity_noticing": "mnemic.kinds.entity_noticing",
    "mnemic.entrypoints.cli": "mnemic_cli",
    "mnemic.entrypoints.cli.backing": "mnemic_cli.backup_commands",
    "mnemic.entrypoints.cli.beginning": "mnemic_cli.init_command",
    "mnemic.entrypoints.cli.chatting": "mnemic_cli.chat_command",
    "mnemic.entrypoints.cli.frame": "mnemic_cli.command_loader",
    "mnemic.entrypoints.cli.given": "mnemic_cli.shared_options",
    "mnemic.entrypoints.cli.importing": "mnemic_cli.file_import",
    "mnemic.entrypoints.cli.looking": "mnemic_cli.inspection_commands",
    "mnemic.entrypoints.cli.moving": "mnemic_cli.export_import",
    "mnemic.entrypoints.cli.reading": "mnemic_cli.read_commands",
    "mnemic.entrypoints.cli.revealing": "mnemic_cli.reveal_command",
    "mnemic.entrypoints.cli.stewarding": "mnemic_cli.administration_commands",
    "mnemic.entrypoints.cli.turn": "mnemic_cli.run_command",
    "mnemic.entrypoints.cli.writing": "mnemic_cli.write_commands",
    "mnemic.extract.around": "mnemic.extract.message_context",
    "mnemic.extract.company": "mnemic_language.sentences.social_remarks",
    "mnemic.extract.dangling": "mnemic_language.sentences.unresolved_references",
    "mnemic.extract.entities.asking": "mnemic_language.entities.relation_questions",
    "mnemic.extract.heads": "mnemic_language.sentences.pasted_headers",
    "mnemic.extract.known": "mnemic.extract.known_context",
    "mnemic.extract.passing": "mnemic_language.sentences.temporary_states",
    "mnemic.extract.pasted": "mnemic_language.sentences.pasted_text",
    "mnemic.extract.structured.moments": "mnemic_structured.iso_times",
    "mnemic.extract.structured.persons": "mnemic_structured.person_names",
    "mnemic.extract.tables.others": "mnemic_language.sentences.tables.other_languages",
    "mnemic.extract.typed": "mnemic.extract.typed_facts",
    "mnemic.extract.when": "mnemic.extract.relative_times",
    "mnemic.extras": "mnemic.plugins.extras",
    "mnemic.facade.upkeep_verbs": "mnemic.facade.maintenance_verbs",
    "mnemic.forked": "mnemic.runtime.fork_check",
    "mnemic.gateway": "mnemic.dispatch.gateway",
    "mnemic.governance": "mnemic_maintenance.governance",
    "mnemic.guard": "mnemic.policy",
    "mnemic.guard.candidate": "mnemic.policy.candidate_check",
    "mnemic.guard.contract": "mnemic.policy.proposal_check",
    "mnemic.guard.echo": "mnemic.policy.refused_text",
    "mnemic.guard.execution": "mnemic.policy.grant",
    "mnemic.guard.expiry": "mnemic.policy.expiry_rule",
    "mnemic.guard.intent": "mnemic.policy.intent_check",
    "mnemic.guard.parts": "mnemic.policy.policy_bundle",
    "mnemic.guard.policy": "mnemic.policy.rules",
    "mnemic.handlers": "mnemic.dispatch.handlers",
    "mnemic.identity": "mnemic.types.identity",
    "mnemic.inject.carry": "mnemic.inject.reinsert_blocks",
    "mnemic.inject.fold": "mnemic.inject.insert_text",
    "mnemic.kinds.entity_names": "mnemic.graph.entity_names",
    "mnemic.kinds.entity_resolution": "mnemic.graph.entity_resolution",
    "mnemic.kinds.graph_search": "mnemic.graph.search",
    "mnemic.kinds.optional_backend": "mnemic.retrieve.optional_backend",
    "mnemic.kinds.search_service": "mnemic.retrieve.search_service",
    "mnemic.kinds.seven": "mnemic.kinds.all_kinds",
    "mnemic.kinds.walks": "mnemic.graph.walks",
    "mnemic.maintain.acts": "mnemic_maintenance.cross_tenant_commit",
    "mnemic.maintain.derived": "mnemic.write.derived_memories",
    "mnemic.maintain.graph": "mnemic.graph.projection",
    "mnemic.maintain.known_users": "mnemic_cli.known_users",
    "mnemic.maintain.move": "mnemic_operations.store_migration",
    "mnemic.maintain.project": "mnemic.write.outbox_worker",
    "mnemic.maintain.schedule": "mnemic_server.maintenance_claims",
    "mnemic.maintain.subject": "mnemic_maintenance.subject_export",
    "mnemic.maintain.subject_page": "mnemic_maintenance.subject_export_page",
    "mnemic.maintain.tenant_end": "mnemic_server.tenant_erasure",
    "mnemic.maintain.trail": "mnemic.write.audited_changes",
    "mnemic.maintain.upkeep_times": "mnemic_server.maintenance_claims",
    "mnemic.maintain.vault": "mnemic_maintenance.reveal",
    "mnemic.maintenance_verbs": "mnemic_maintenance.maintenance_verbs",
    "mnemic.manager": "mnemic.facade.manager",
    "mnemic.message_requests": "mnemic.engine.message_requests",
    "mnemic.portal": "mnemic.runtime.portal",
    "mnemic.ports.offers": "mnemic.ports.optional_capabilities",
    "mnemic.ports.rows": "mnemic.ports.row_store",
    "mnemic.proposing": "mnemic.engine.extraction",
    "mnemic.providers.breaker": "mnemic.providers.circuit_breakers",
    "mnemic.read_verbs": "mnemic.engine.read_verbs",
    "mnemic.reasons": "mnemic.reason_codes",
    "mnemic.recall": "mnemic.engine.recall",
    "mnemic.remembering": "mnemic.engine.message_forms",
    "mnemic.requests.changing": "mnemic.requests.writes",
    "mnemic.requests.reading": "mnemic.requests.reads",
    "mnemic.requests.stewarding": "mnemic.requests.administration",
    "mnemic.retrieve.addressed": "mnemic.retrieve.nicknames",
    "mnemic.retrieve.asked_keys": "mnemic_language.questions.key_questions",
    "mnemic.retrieve.background": "mnemic.retrieve.background_similarity",
    "mnemic.retrieve.filtered": "mnemic.retrieve.data_filter",
    "mnemic.retrieve.fuse": "mnemic.retrieve.fusion",
    "mnemic.retrieve.instances": "mnemic.retrieve.category_members",
    "mnemic.retrieve.lists": "mnemic.retrieve.candidate_lists",
    "mnemic.retrieve.named": "mnemic.retrieve.named_memories",
    "mnemic.retrieve.outdated": "mnemic.retrieve.later_statements",
    "mnemic.retrieve.past": "mnemic.retrieve.past_questions",
    "mnemic.retrieve.plan": "mnemic.retrieve.intent_planning",
    "mnemic.retrieve.state": "mnemic.retrieve.live_memories",
    "mnemic.retrieve.why": "mnemic.retrieve.explanation",
    "mnemic.runtime.forked": "mnemic.runtime.fork_check",
    "mnemic.stores.atomic": "mnemic_stores.sync_transactions",
    "mnemic.stores.inprocess": "mnemic_stores.in_process",
    "mnemic.stores.layered.sides": "mnemic_stores.layered.auxiliary_records",
    "mnemic.stores.layered.trail": "mnemic_stores.layered.audit_and_outbox",
    "mnemic.stores.layered.walking": "mnemic_stores.layered.tenant_scans",
    "mnemic.stores.matching": "mnemic_stores.document_order",
    "mnemic.stores.parts": "mnemic_stores.atomic_files",
    "mnemic.stores.recalled": "mnemic_stores.neighbour_cache",
    "mnemic.stores.relational.upkeep": "mnemic_stores.relational.maintenance",
    "mnemic.stores.session": "mnemic_stores.in_process_sessions",
    "mnemic.stores.sqlite.asking": "mnemic_sqlite.shared_statements",
    "mnemic.stores.sqlite.carve": "mnemic_operations.sqlite.record_carving",
    "mnemic.stores.sqlite.changed": "mnemic_sqlite.scope_changes",
    "mnemic.stores.sqlite.file": "mnemic_sqlite.database_file",
    "mnemic.stores.sqlite.names": "mnemic_sqlite.link_check",
    "mnemic.stores.sqlite.near": "mnemic_sqlite.nearest_neighbours",
    "mnemic.stores.sqlite.opened": "mnemic_sqlite.open_file",
    "mnemic.stores.sqlite.room": "mnemic_sqlite.disk_space",
    "mnemic.stores.sqlite.upkeep": "mnemic_sqlite.maintenance",
    "mnemic.stores.steps": "mnemic_stores.async_transactions",
    "mnemic.stores.walks": "mnemic_stores.graph_walks",
    "mnemic.sync_facade": "mnemic.runtime.sync_facade",
    "mnemic.tenancy": "mnemic_maintenance.tenancy",
    "mnemic.text.spelled": "mnemic_language.text.spelled_names",
    "mnemic.trace": "mnemic.types.trace",
    "mnemic.turn": "mnemic.engine.turn",
    "mnemic.types.asking": "mnemic.types.message_requests",
    "mnemic.types.changed": "mnemic.types.scope_changes",
    "mnemic.types.forms": "mnemic.types.json_forms",
    "mnemic.types.defaults": "mnemic.types.measures",
    "mnemic.types.reading": "mnemic.types.store_reads",
    "mnemic.types.recalling": "mnemic.types.recall_limits",
    "mnemic.types.searching": "mnemic.types.search",
    "mnemic.types.words": "mnemic.types.enums",
    "mnemic.types.writing": "mnemic.types.writes",
    "mnemic.upkeep_verbs": "mnemic.facade.maintenance_verbs",
    "mnemic.verbs": "mnemic.facade.verbs",
    "mnemic.write.outbox_upkeep": "mnemic.write.outbox_maintenance",
    "mnemic.write.remaining": "mnemic.write.split_statement",
    "mnemic.write.scaled": "mnemic.write.calibrated_neighbours",
    "mnemic.write.settle": "mnemic.write.decision",
    "mnemic.write.unembedded": "mnemic.write.missing_vectors",
    "mnemic.write.vault": "mnemic.write.tokenisation",
    "mnemic.write.wording": "mnemic_language.compare.word_lists",
    "mnemic.write.words": "mnemic_language.compare.content_words",
    "mnemic.compare": "mnemic_language.compare",
    "mnemic.extract.about_memory": "mnemic_language.sentences.about_memory",
    "mnemic.extract.classify": "mnemic_language.sentences.classify",
    "mnemic.extract.clauses": "mnemic_language.sentences.clauses",
    "mnemic.extract.entities.phrases": "mnemic_language.entities.phrases",
    "mnemic.extract.entities.relation_questions": "mnemic_language.entities.relation_questions",
    "mnemic.extract.entities.relations": "mnemic_language.entities.relations",
    "mnemic.extract.habits": "mnemic_language.sentences.habits",
    "mnemic.extract.pasted_headers": "mnemic_language.sentences.pasted_headers",
    "mnemic.extract.pasted_text": "mnemic_language.sentences.pasted_text",
    "mnemic.extract.preference_wordings": "mnemic_language.sentences.preference_wordings",
    "mnemic.extract.remember": "mnemic_language.sentences.remember",
    "mnemic.extract.signals": "mnemic_language.sentences.exclusion_rules",
    "mnemic.extract.small_talk": "mnemic_language.sentences.extraction_filter",
    "mnemic.extract.social_remarks": "mnemic_language.sentences.social_remarks",
    "mnemic.extract.statements": "mnemic_language.sentences.statements",
    "mnemic.extract.tables": "mnemic_language.sentences.tables",
    "mnemic.extract.temporary_states": "mnemic_language.sentences.temporary_states",
    "mnemic.extract.unresolved_references": "mnemic_language.sentences.unresolved_references",
    "mnemic.inject.mention": "mnemic_language.compare.mention",
    "mnemic.retrieve.key_questions": "mnemic_language.questions.key_questions",
    "mnemic.retrieve.small_talk": "mnemic_language.questions.small_talk",
    "mnemic.retrieve.time_clause": "mnemic_language.questions.time_clause",
    "mnemic.retrieve.topics": "mnemic_language.questions.topics",
    "mnemic.text": "mnemic_language.text",
    "mnemic.write.content_words": "mnemic_language.compare.content_words",
    "mnemic.write.statement": "mnemic_language.compare.statement",
    "mnemic.write.word_lists": "mnemic_language.compare.word_lists",
    "mnemic.client": "mnemic_client",
    "mnemic.compat": "mnemic_agents.compat",
    "mnemic.conversations.beam": "mnemic_eval.importers.beam",
    "mnemic.conversations.chatgpt": "mnemic_importers.chatgpt",
    "mnemic.conversations.claude": "mnemic_importers.claude",
    "mnemic.conversations.entries": "mnemic_importers.entries",
    "mnemic.conversations.foreign_memory": "mnemic_importers.foreign_memory",
    "mnemic.conversations.gemini": "mnemic_importers.gemini",
    "mnemic.conversations.graphiti": "mnemic_importers.graphiti",
    "mnemic.conversations.langmem": "mnemic_importers.langmem",
    "mnemic.conversations.letta": "mnemic_importers.letta",
    "mnemic.conversations.locomo": "mnemic_eval.importers.locomo",
    "mnemic.conversations.longmemeval": "mnemic_eval.importers.longmemeval",
    "mnemic.conversations.markdown": "mnemic_importers.markdown",
    "mnemic.conversations.mem0": "mnemic_importers.mem0",
    "mnemic.conversations.realtalk": "mnemic_eval.importers.realtalk",
    "mnemic.conversations.sharegpt": "mnemic_importers.sharegpt",
    "mnemic.conversations.slack": "mnemic_importers.slack",
    "mnemic.conversations.telegram": "mnemic_importers.telegram",
    "mnemic.conversations.whatsapp": "mnemic_importers.whatsapp",
    "mnemic.entrypoints.rest": "mnemic_server",
    "mnemic.evaluate": "mnemic_eval",
    "mnemic.extract.structured": "mnemic_structured",
    "mnemic.extract.travel": "mnemic_travel",
    "mnemic.integrations": "mnemic_agents",
    "mnemic.keys": "mnemic_keys",
    "mnemic.providers.http_embedder": "mnemic_models.http_embedder",
    "mnemic.providers.http_reranker": "mnemic_models.http_reranker",
    "mnemic.providers.openai": "mnemic_models.openai_completer",
    "mnemic.providers.openai_client": "mnemic_models.openai_client",
    "mnemic.steps": "mnemic_agents.steps",
    "mnemic.kinds.structured": "mnemic_structured.structured_memory",
    "mnemic.maintain.policy_dry_run": "mnemic_server.policy_dry_run",
    "mnemic.maintain.run_history": "mnemic_server.run_history",
    "mnemic.maintain.restore": "mnemic_operations.erased_users",
    "mnemic.maintain.store_migration": "mnemic_operations.store_migration",
    "mnemic.stores.azure_search": "mnemic_azure",
    "mnemic.stores.backups": "mnemic_operations.backup_folder",
    "mnemic.stores.neo4j": "mnemic_neo4j",
    "mnemic.stores.postgres": "mnemic_postgres",
    "mnemic.stores.redis": "mnemic_redis",
    "mnemic.stores.sqlite.backup": "mnemic_operations.sqlite.backup",
    "mnemic.stores.sqlite.baseline": "mnemic_eval.commit_floor",
    "mnemic.stores.sqlite.inspection": "mnemic_operations.sqlite.inspection",
    "mnemic.stores.sqlite.record_carving": "mnemic_operations.sqlite.record_carving",
    "mnemic.stores.sqlite.salvage": "mnemic_operations.sqlite.salvage",
    "mnemic.stores": "mnemic_stores",
    "mnemic.stores.sqlite": "mnemic_sqlite",
    "mnemic.testing": "mnemic_testing",
    "mnemic.text.special": "mnemic_agents.steps.sensitive_statements",
    "mnemic_server.commands.serving": "mnemic_server.commands.serve",
    "mnemic_server.commands.working": "mnemic_server.commands.work",
    "mnemic.maintain": "mnemic_maintenance",
    "mnemic.maintain.audited_changes": "mnemic.write.audited_changes",
    "mnemic.maintain.capture_queue": "mnemic.write.capture_queue",
    "mnemic.maintain.consent": "mnemic.write.consent",
    "mnemic.maintain.derived_memories": "mnemic.write.derived_memories",
    "mnemic.maintain.forget": "mnemic.write.forget",
    "mnemic.maintain.outbox_worker": "mnemic.write.outbox_worker",
    "mnemic.maintain.turn_log": "mnemic.write.turn_log",
    "mnemic.maintain.export": "mnemic.retrieve.export",
    "mnemic.maintain.lineage": "mnemic.engine.lineage",
    "mnemic.maintain.graph_projection": "mnemic.graph.projection",
    "mnemic.maintain.summarise": "mnemic.engine.summarise",
    "mnemic.maintain.prompts": "mnemic.engine.summary_prompts",
    "mnemic.engine.administration_verbs": "mnemic_maintenance.administration_verbs",
    "mnemic.engine.maintenance_verbs": "mnemic_maintenance.maintenance_verbs",
    "mnemic.engine.maintenance_run": "mnemic_maintenance.maintenance_run",
    "mnemic.engine.confirmed_requests": "mnemic_maintenance.confirmed_requests",
    "mnemic.engine.tenancy": "mnemic_maintenance.tenancy",
    "mnemic.facade.governance": "mnemic_maintenance.governance",
    "mnemic.dispatch.handlers.administration": "mnemic_maintenance.handlers.administration",
    "mnemic.dispatch.handlers.review": "mnemic_maintenance.handlers.review",
}
"""The new name of each module that has an old one."""

RENAMED = {
    "mnemic.ports": {
        "Anew": "Reseal",
        "Expecting": "VectorPrefetch",
        "Following": "ChangeFeed",
        "Loading": "ModelLoading",
    },
    "mnemic.ports.keyring": {"Anew": "Reseal", "Fencing": "SignatureFence", "Signing": "SigningKeyring"},
    "mnemic.ports.optional_capabilities": {
        "Adopting": "TenantMigration",
        "Examined": "DamageScan",
        "GivenIdentifiers": "SuppliedIdentifiers",
        "Vacuumed": "VacuumStatus",
    },
    "mnemic.ports.projections": {"Scanned": "ErasureScan"},
    "mnemic.ports.providers": {"Loading": "ModelLoading"},
    "mnemic.types": {
        "CarriedOut": "RequestOutcome",
        "Forgotten": "ForgetResult",
        "Hottest": "HotSetContents",
        "KeptRequest": "StoredAnswer",
        "Recalled": "RecallResult",
    },
}
"""The new name of each class of a module that has an old one."""

_EXTRAS = {"mnemic_importers": "import", "mnemic_models": "openai"}
"""The extra of a package, where it is not called as the package."""

FOR_GOOD = frozenset({"mnemic.compat"})
"""Names that stay, without a warning."""


class _Package(ModuleType):
    """A package in which the old name of a module takes no function's place: the import system would put it there."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and callable(vars(self).get(name))):
            super().__setattr__(name, value)


class _Modules(Loader):
    """Finder of `<old>.<name>` that returns the module `<new>.<name>` itself, so that no class exists twice."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith(f"{self.old}."):
            return None
        # A module that was also renamed within its package has a separate entry.
        return spec_of(fullname) or ModuleSpec(fullname, self)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        # The import system writes the spec of the alias into the module; `exec_module` takes it out again.
        module = import_module(self.new + spec.name.removeprefix(self.old))
        self.spec = module.__spec__
        package, _, name = spec.name.rpartition(".")
        if callable(vars(sys.modules[package]).get(name)):
            sys.modules[package].__class__ = _Package
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


def spec_of(name: str) -> ModuleSpec | None:
    """Return the spec of the module that has the old name `name`; None where it is no old name."""
    return ModuleSpec(name, alias(name, MOVED[name])) if name in MOVED else None


def renamed(module: str, name: str) -> Any:
    """Return what was called `name` in `module`. Raises AttributeError for a name that nothing had."""
    new = RENAMED[module].get(name)
    if new is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warnings.warn(f"{module}.{name} has become {new}", DeprecationWarning, stacklevel=3)
    return getattr(sys.modules[module], new)


def alias(old: str, new: str) -> _Modules:
    """Make `old` and its modules names of `new`, and return their finder. Raises MissingExtra
    (`missing_extra:<name>`) where the distribution of `new` is not installed.
    """
    package = new.partition(".")[0]
    try:
        import_module(new)
    except ModuleNotFoundError as missing:
        if missing.name not in (new, package):
            raise
        errors = import_module("mnemic.errors")
        distribution = package.replace("_", "-")
        extra = _EXTRAS.get(package, distribution.removeprefix("mnemic-"))
        raise errors.MissingExtra(extra, hint=f"pip install {distribution}") from missing
    if old not in FOR_GOOD:
        of = "" if package in ("mnemic", old.partition(".")[0]) else f", of the package {package.replace('_', '-')}"
        warnings.warn(f"{old} has become {new}{of}", DeprecationWarning, stacklevel=3)
    finder = _Modules(old, new)
    sys.meta_path.insert(0, finder)
    return finder
