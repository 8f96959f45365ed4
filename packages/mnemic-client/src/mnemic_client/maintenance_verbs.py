"""Upkeep and governance of a memory that a service keeps."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeVar
from urllib.parse import quote

from mnemic.errors import NotSupported
from mnemic.facade.verbs import MemoryVerbs
from mnemic.maintenance.consolidate import ConsolidationReport
from mnemic.maintenance.expiry_job import ExpiryReport
from mnemic.maintenance.governance import AuditTrail, ConsentBook, Privacy, ReviewQueue
from mnemic.maintenance.health import Health
from mnemic.maintenance.reports import MaintenanceReport
from mnemic.maintenance.reread import RereadReport
from mnemic.runtime.sync_facade import CallMode, DualModeApi, M, verb
from mnemic.types import from_json, to_json
from mnemic_client.governance import RemoteGovernance
from mnemic_client.remote import Remote
from mnemic_client.verb_parameters import like

G = TypeVar("G")
"""A face of the governance."""


class RemoteUpkeep(DualModeApi[M]):
    """Verbs of operators, and of the governance of a memory."""

    def __init__(self, ground: CallMode[M], remote: Remote) -> None:
        super().__init__(ground)
        self._remote = remote

    @like(MemoryVerbs.maintain)
    async def maintain(self, given: SimpleNamespace) -> MaintenanceReport:
        """Every job of upkeep, one after the other. For operators."""
        asked = {"whole": str(given.whole).lower(), "dry_run": str(given.dry_run).lower()}
        return from_json(MaintenanceReport, await self._remote.call("POST", "/v1/maintenance", params=asked))

    @like(MemoryVerbs.expire)
    async def expire(self, given: SimpleNamespace) -> ExpiryReport:
        """Mark expired memories and purge those marked a grace period ago. For operators."""
        body = {"rules": None if given.rules is None else to_json(given.rules), "dry_run": given.dry_run}
        return from_json(ExpiryReport, await self._remote.call("POST", "/v1/expiry", body))

    @like(MemoryVerbs.consolidate)
    async def consolidate(self, given: SimpleNamespace) -> ConsolidationReport:
        """Consolidate memories: summaries, profiles, reflections. Without `rules` no model is called. For operators."""
        body = {"rules": None if given.rules is None else to_json(given.rules)}
        asked = {"dry_run": str(given.dry_run).lower()}
        return from_json(ConsolidationReport, await self._remote.call("POST", "/v1/consolidations", body, params=asked))

    @like(MemoryVerbs.reread)
    async def reread(self, given: SimpleNamespace) -> RereadReport:
        """Read the recorded messages again with the service's reader. Raises NotSupported (`progress`)."""
        if given.progress is not None:
            raise NotSupported("progress", hint="a service keeps no file of what was read")
        asked = {"dry_run": str(given.dry_run).lower(), "limit": given.limit}
        asked["since"] = None if given.since is None else given.since.isoformat()
        sent = {name: value for name, value in asked.items() if value is not None}
        return from_json(RereadReport, await self._remote.call("POST", "/v1/rereads", params=sent))

    @like(MemoryVerbs.undo_reread)
    async def undo_reread(self, given: SimpleNamespace) -> int:
        """Take back what a `reread` changed."""
        done = await self._remote.call("POST", f"/v1/rereads/{quote(given.run_id, safe='')}/undo")
        return int(done["memories"])

    @like(MemoryVerbs.doctor)
    async def doctor(self, given: SimpleNamespace) -> Health:
        """Return the findings in the tenant's memories that need a person. For operators."""
        return from_json(Health, await self._remote.call("GET", "/v1/doctor", params={"limit": given.limit}))

    @property
    def consent(self) -> ConsentBook[M]:
        """Consent of the user, key by key."""
        return self._apply_tenant_rules(ConsentBook)

    @property
    def privacy(self) -> Privacy[M]:
        """Personal data stored about a user, and its erasure."""
        return self._apply_tenant_rules(Privacy)

    @property
    def audit(self) -> AuditTrail[M]:
        """Audit log of the tenant's memories. For operators."""
        return self._apply_tenant_rules(AuditTrail)

    def review(self) -> ReviewQueue[M]:
        """Return the memories that wait for a person in the tenant. For reviewers."""
        return self._apply_tenant_rules(ReviewQueue)

    def _apply_tenant_rules(self, face: Callable[..., G]) -> G:
        # The credential says who asks, so the actor is nobody.
        return face(self.ground, RemoteGovernance(self._remote), SimpleNamespace(user=None))

    @verb
    async def consents(self) -> dict[str, bool]:
        """Return the user's decisions."""
        return await RemoteGovernance(self._remote).consents()

    @verb
    async def grant_consent(self, key: str) -> None:
        """Allow `key`."""
        await RemoteGovernance(self._remote).grant_consent(key)

    @verb
    async def revoke_consent(self, key: str, *, erase_held: bool = False) -> int:
        """Hide and refuse `key`; how many memories are hidden now."""
        return (await RemoteGovernance(self._remote).revoke_consent(key, erase_held=erase_held)).hidden

    @verb
    async def erase(self, subject: str | None = None, *, block: bool = False) -> dict[str, Any]:
        """Erase everything about oneself or `subject`."""
        return (await RemoteGovernance(self._remote).erase(subject, block=block)).as_dict()
