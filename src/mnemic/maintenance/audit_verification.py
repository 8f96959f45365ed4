"""The check of a tenant's audit: its chain, and the signatures of its lines."""

from __future__ import annotations

from asyncio import to_thread
from contextlib import suppress

from mnemic.errors import StoreCorrupt
from mnemic.maintenance.reports import AuditReport
from mnemic.maintenance.subject_data import audit_of
from mnemic.ports import AuditLog
from mnemic.ports.keyring import SignatureFence, SigningKeyring


async def verify_lines(log: AuditLog, tenant: str, keyring: object) -> AuditReport:
    """Check every line. `keyring` has the signing key, and the first signed line; None: there is none."""
    lines, broken_at, last_hash = await log.broken_audit(tenant)
    signed: list[int] = []
    unsigned: list[int] = []
    with suppress(StoreCorrupt):  # an unreadable line counts as broken and is reported as such
        async for event in audit_of(log, tenant):
            (signed if event.signed else unsigned).append(event.sequence)
    since = min(signed, default=None)
    if isinstance(keyring, SignatureFence):
        since = await to_thread(keyring.signed_since, tenant, since)
    return AuditReport(
        lines=lines,
        broken_at=broken_at,
        last_hash=last_hash,
        signed=len(signed),
        signed_to=max(signed, default=0),
        signatures_checked=isinstance(keyring, SigningKeyring),
        unsigned_at=None if since is None else next((line for line in unsigned if line >= since), None),
    )


async def remember_signed(log: AuditLog, tenant: str, keyring: object) -> None:
    """Record in the key folder from which line on the tenant's audit is signed, so that removed signatures are noticed
    from then on. Raises KeyFailed, StoreFailed.
    """
    if not isinstance(keyring, SignatureFence) or await to_thread(keyring.signed_since, tenant, None) is not None:
        return
    async for event in audit_of(log, tenant):
        if event.signed:
            await to_thread(keyring.signed_since, tenant, event.sequence)
            return
