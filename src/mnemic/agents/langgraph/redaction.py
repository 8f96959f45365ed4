"""Redaction of an application's values in LangGraph's store, if it asks for that."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from langgraph.store.base import Op, PutOp, SearchOp

from mnemic.ports import DocumentStore
from mnemic.types import Document, GetDocument, PutDocument
from mnemic.write.redact import Redactor, redact_value

_PLACE = ("redaction",)
_KEY = "secret"


class RedactedOperations:
    """Operations without personal data in stored values, queries and filters. Namespaces and keys are unchanged: the
    application finds its documents by them.

    The secret that the markers are derived from is a document of the tenant `<tenant>.redaction`, created at first use.
    """

    def __init__(self, documents: DocumentStore, tenant: str) -> None:
        self._documents = documents
        self._tenant = f"{tenant}.redaction"
        self._redactor = Redactor()
        self._secret: bytes | None = None

    def redact_operations(self, ops: list[Op]) -> list[Op]:
        """Return the operations, redacted, in the form in which they are executed."""
        secret = self._kept_secret()
        return [_redact_operation(op, lambda value: redact_value(value, self._redactor, secret)) for op in ops]

    def _kept_secret(self) -> bytes:
        """Of two who make one at once the later counts."""
        if self._secret is None:
            asked = GetDocument(namespace=_PLACE, key=_KEY)
            (kept,) = self._documents.apply(self._tenant, [asked])
            if kept is None:
                made = PutDocument(namespace=_PLACE, key=_KEY, value=f'{{"secret":"{secrets.token_hex(32)}"}}')
                self._documents.apply(self._tenant, [made])
                (kept,) = self._documents.apply(self._tenant, [asked])
            assert isinstance(kept, Document)
            self._secret = bytes.fromhex(kept.value["secret"])
        return self._secret


def _redact_operation(op: Op, redacted: Callable[[Any], Any]) -> Op:
    if isinstance(op, PutOp) and op.value is not None:
        return op._replace(value=redacted(op.value))
    if isinstance(op, SearchOp):
        return op._replace(query=op.query and redacted(op.query), filter=op.filter and redacted(op.filter))
    return op
