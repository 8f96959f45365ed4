"""Port of the store of JSON documents in namespaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mnemic.types import DocumentAnswer, DocumentOperation


class DocumentStore(Protocol):
    """An application's own JSON documents, by tenant, namespace and key; see `mnemic.types.documents`.

    Its methods block, and may be called from any thread: its callers are frameworks with a synchronous and an
    asynchronous face, and both must end in the same code.
    """

    def apply(
        self, tenant: str, operations: Sequence[DocumentOperation], *, hide_expired: bool = False
    ) -> list[DocumentAnswer]:
        """Return one answer to each operation, in order, as of one moment: reads see the state before the batch, then
        all writes are committed in one transaction; the last write of a key wins. All or nothing.

        `created_at` stays when a document is replaced; no two `updated_at` of a tenant are equal. Raises InvalidInput
        for a negative limit or an unknown operator, before anything is written.
        """

    def sweep(self, tenant: str) -> int:
        """Delete the documents that have expired; return the number deleted."""

    def close(self) -> None:
        """Release everything. May be called twice."""
