"""The search index: one document per memory, fed by the outbox, queried by words and by vector at once."""

from __future__ import annotations

import asyncio
import base64
from array import array
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from typing import Any, Self, TypeVar
from urllib.parse import unquote, urlsplit

from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError, ResourceNotFoundError
from azure.search.documents.aio import SearchClient
from azure.search.documents.indexes.aio import SearchIndexClient
from azure.search.documents.indexes.models import (
    ExhaustiveKnnAlgorithmConfiguration,
    ExhaustiveKnnParameters,
    SearchableField,
    SearchField,
    SearchFieldDataType,
    SearchIndex,
    SimpleField,
    VectorSearch,
    VectorSearchProfile,
)
from azure.search.documents.models import IndexDocumentsBatch, VectorizedQuery

from mnemic.errors import InvalidConfig, MnemicError, NotSupported, SpaceMismatch, StoreBusy, StoreUnavailable
from mnemic.stores.codec import to_micros
from mnemic.types import Change, Memory, Scope, Scored, Vector, Where

IN_ONE_FILTER = 1000
"""Maximum values in a filter. The service refuses much larger filters."""


def text(value: str) -> str:
    """Return a string literal: quotes are doubled, no other character is special."""
    return "'" + value.replace("'", "''") + "'"


def moment(value: datetime) -> str:
    """Microseconds since 1970, as the index stores times: its own dates stop at milliseconds."""
    return str(to_micros(value))


def odata_filter(where: Where) -> str:
    """Return `where` as an OData filter. Raises NotSupported for a point in time (`as_of`), since the index has no
    history.
    """
    if where.as_of is not None:
        raise NotSupported("search_index:as_of", hint="ask the record store")
    places = [f"(level eq {text(scope.level.value)} and owner eq {text(scope.owner)})" for scope in where.scopes]
    conditions = [f"tenant eq {text(where.tenant)}", "(" + " or ".join(places) + ")"]
    chosen = {"kind": where.kinds, "category": where.categories, "key": where.keys, "status": where.statuses}
    conditions += [_any_of(field, values) for field, values in chosen.items() if values is not None]
    if where.hidden_keys:
        conditions.append(f"not ({_any_of('key', where.hidden_keys)})")
    if where.happened_from is not None:
        conditions.append(f"happened_at ge {moment(where.happened_from)}")
    if where.happened_to is not None:
        conditions.append(f"happened_at lt {moment(where.happened_to)}")
    if where.live_at is not None:
        conditions.append(f"(expires_at eq null or expires_at gt {moment(where.live_at)})")
    return " and ".join(conditions)


def _any_of(field: str, values: Collection[str]) -> str:
    if len(values) > IN_ONE_FILTER:
        raise NotSupported("search_index:filter", hint=f"at most {IN_ONE_FILTER} values")
    return "(" + " or ".join(f"{field} eq {text(str(value))}" for value in sorted(values)) + ")" if values else "false"


_NAMES = ("memory_id", "tenant", "level", "owner", "kind", "status", "key", "category")
_NUMBERS = ("happened_at", "expires_at", "version")
_EXACT = "exact"


def definition(index: str, dimension: int) -> SearchIndex:
    """Return the index called `index`, for vectors of `dimension`."""
    text, number = SearchFieldDataType.STRING, SearchFieldDataType.INT64
    algorithm = ExhaustiveKnnAlgorithmConfiguration(name=_EXACT, parameters=ExhaustiveKnnParameters(metric="cosine"))
    return SearchIndex(
        name=index,
        fields=[
            SimpleField(name="id", type=text, key=True, filterable=True),
            *(SimpleField(name=name, type=text, filterable=True) for name in _NAMES),
            *(SimpleField(name=name, type=number, filterable=True) for name in _NUMBERS),
            SearchableField(name="content"),
            SearchableField(name="context"),
            SearchField(
                name="vector",
                type=f"Collection({SearchFieldDataType.SINGLE.value})",
                searchable=True,
                hidden=True,
                vector_search_dimensions=dimension,
                vector_search_profile_name=_EXACT,
            ),
        ],
        vector_search=VectorSearch(
            algorithms=[algorithm],
            profiles=[VectorSearchProfile(name=_EXACT, algorithm_configuration_name=_EXACT)],
        ),
    )


def dimension_of(index: SearchIndex) -> int | None:
    """Return the dimension of the index's vectors; None if it has none."""
    return next((field.vector_search_dimensions for field in index.fields if field.name == "vector"), None)


T = TypeVar("T")

SECONDS = 5.0
MAX_TOP = 1000
"""Maximum documents that the service returns in one answer."""

NO_INDEX = "store_unavailable:azure_search:404"
"""The service's answer before there is an index."""
_CLEARED_AT_ONCE = 1000
_ASKED_AT_ONCE = 100
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class AzureSearchIndex:
    """A `SearchIndex` and a `Projection` on the index `index` of the service at `endpoint` (`https://...`).

    The index must have the fields of `docs/storage.md`; if the `dimension` of the vectors is given, `create` makes it,
    and so do `clear` and the first documents if it is missing. It contains the text of active memories, so the same
    data-protection rules apply as for the record store. Every call ends within `seconds` and is not repeated: the
    outbox does that. Raises InvalidConfig for an endpoint that cannot be one.
    """

    name = "search_index"

    def __init__(
        self, endpoint: str, index: str, api_key: str, *, dimension: int | None = None, seconds: float = SECONDS
    ) -> None:
        parts = urlsplit(endpoint)
        if parts.scheme not in ("https", "http") or not parts.hostname or not index or not api_key:
            raise InvalidConfig("azure_search", hint="an https:// endpoint, the index's name and a key are needed")
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise InvalidConfig("azure_search", hint="memories go over https:// only")
        self._seconds, self._index, self._dimension = seconds, index, dimension
        options: dict[str, Any] = {"retry_total": 0, "connection_timeout": seconds, "read_timeout": seconds}
        self._client = SearchClient(endpoint, index, AzureKeyCredential(api_key), logging_enable=False, **options)
        self._indexes = SearchIndexClient(endpoint, AzureKeyCredential(api_key), logging_enable=False, **options)

    @classmethod
    def from_url(cls, url: str, *, dimension: int) -> Self:
        """Return the index at `azure-search://:KEY@SERVICE.search.windows.net/INDEX`; only a loopback is spoken to
        without encryption. Raises InvalidConfig.
        """
        parts = urlsplit(url)
        scheme = "http" if parts.hostname in _LOOPBACK else "https"
        port = "" if parts.port is None else f":{parts.port}"
        endpoint = f"{scheme}://{parts.hostname or ''}{port}"
        return cls(endpoint, parts.path.strip("/"), unquote(parts.password or ""), dimension=dimension)

    async def create(self) -> bool:
        """Create the index if there is none; return whether it was created now. Raises SpaceMismatch if it exists for
        vectors of another dimension, InvalidConfig if the dimension is not known, StoreFailed.
        """
        if self._dimension is None:
            raise InvalidConfig("azure_search", hint="the dimension of the vectors is needed to make an index")
        dimension = self._dimension

        async def make() -> bool:
            try:
                known = dimension_of(await self._indexes.get_index(self._index))
            except ResourceNotFoundError:
                await self._indexes.create_index(definition(self._index, dimension))
                return True
            if known != dimension:
                raise SpaceMismatch(hint=f"the index is for vectors of {known} dimensions, not {dimension}")
            return False

        return await self._ask_within(make)

    async def apply(self, changes: Sequence[Change]) -> None:
        shown = [change.shown for change in changes if change.shown is not None]
        gone = [change.entry for change in changes if change.shown is None]
        batch = IndexDocumentsBatch()
        if shown:
            batch.add_upload_actions([_document(memory) for memory in shown])
        if gone:
            batch.add_delete_actions([{"id": _document_id(entry.scope.tenant, entry.memory_id)} for entry in gone])
        await self._send(batch)

    async def upsert(self, memories: Sequence[Memory]) -> None:
        batch = IndexDocumentsBatch()
        batch.add_upload_actions([_document(memory) for memory in memories])
        await self._send(batch)

    async def remove(self, scope: Scope, memory_ids: Sequence[str]) -> None:
        batch = IndexDocumentsBatch()
        batch.add_delete_actions([{"id": _document_id(scope.tenant, memory_id)} for memory_id in memory_ids])
        await self._send(batch)

    async def search(self, where: Where, query: str, vector: Vector | None, *, limit: int) -> list[Scored]:
        if limit < 1:
            return []
        limit = min(limit, MAX_TOP)
        vectors = [] if vector is None else [_vector_query(vector, limit)]
        options: dict[str, Any] = {"filter": odata_filter(where), "top": limit, "select": ["memory_id"]}
        if vectors:
            options |= {"vector_queries": vectors, "vector_filter_mode": "preFilter"}
        asked = self._client.search(search_text=_plain(query), search_fields=["content", "context"], **options)
        found = await self._ask_within(lambda: _collect_documents(asked, limit))
        return [Scored(document["memory_id"], float(document["@search.score"])) for document in found]

    async def clear(self, tenant: str) -> None:
        """Delete the tenant's documents, page by page; create the index if it is missing. The service shows a deletion
        a moment late: a page without a new document ends the loop.
        """
        if self._dimension is not None:
            await self.create()
        known: set[str] = set()
        while fresh := await self._document_ids(tenant) - known:
            batch = IndexDocumentsBatch()
            batch.add_delete_actions([{"id": document_id} for document_id in fresh])
            await self._send(batch)
            known |= fresh

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        """Return the number of these memories that have a document; the service shows a deletion a moment late."""
        found, wanted = 0, sorted(memory_ids)
        for start in range(0, len(wanted), _ASKED_AT_ONCE):
            some = wanted[start : start + _ASKED_AT_ONCE]
            any_of = " or ".join(f"memory_id eq {text(memory_id)}" for memory_id in some)
            options: dict[str, Any] = {"filter": f"tenant eq {text(tenant)} and ({any_of})", "select": ["id"]}
            asked = self._client.search(search_text="*", top=_ASKED_AT_ONCE, **options)
            found += len(await self._ask_within(lambda asked=asked: _collect_documents(asked, _ASKED_AT_ONCE)))  # type: ignore[misc]
        return found

    async def close(self) -> None:
        await self._client.close()
        await self._indexes.close()

    async def _document_ids(self, tenant: str) -> set[str]:
        """Return the identifiers of some of the tenant's documents."""
        options: dict[str, Any] = {"filter": f"tenant eq {text(tenant)}", "select": ["id"], "top": _CLEARED_AT_ONCE}
        asked = self._client.search(search_text="*", **options)
        return {
            document["id"] for document in await self._ask_within(lambda: _collect_documents(asked, _CLEARED_AT_ONCE))
        }

    async def _send(self, batch: IndexDocumentsBatch) -> None:
        """Send all documents, and check every answer: the service may accept one part of a batch and refuse another."""
        if not batch.actions:
            return
        try:
            results = await self._ask_within(lambda: self._client.index_documents(batch))
        except StoreUnavailable as failure:
            if failure.reason != NO_INDEX or self._dimension is None or not await self.create():
                raise
            results = await self._ask_within(lambda: self._client.index_documents(batch))
        refused = [result for result in results if not result.succeeded and result.status_code != 404]
        if refused or len(results) != len(batch.actions):
            codes = sorted({str(result.status_code) for result in refused}) or ["missing"]
            raise StoreUnavailable(f"azure_search:{codes[0]}", hint=f"{len(refused)} of {len(batch.actions)} refused")

    async def _ask_within(self, ask: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                return await ask()
        except (AzureError, OSError, ValueError, KeyError) as error:
            raise _as_mnemic_error(error) from None  # the driver's message may contain the sent data


def _as_mnemic_error(error: BaseException) -> MnemicError:
    if isinstance(error, TimeoutError):
        return StoreBusy("azure_search", hint="the service did not answer in time")
    if isinstance(error, ClientAuthenticationError):
        return StoreUnavailable("azure_search:refused", hint="check the key and what it may do")
    status = error.status_code if isinstance(error, HttpResponseError) else None
    return StoreUnavailable("azure_search" if status is None else f"azure_search:{status}")


async def _collect_documents(asked: Awaitable[Any], limit: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    async for document in await asked:
        found.append(document)
        if len(found) == limit:
            break
    return found


def _vector_query(vector: Vector, limit: int) -> VectorizedQuery:
    return VectorizedQuery(
        vector=array("f", vector).tolist(), k_nearest_neighbors=limit, fields="vector", exhaustive=True
    )


def _plain(query: str) -> str | None:
    """Return the words of the query: characters that the service would read as operators become spaces."""
    words = "".join(letter if letter.isalnum() or letter.isspace() else " " for letter in query).split()
    return " ".join(words) or None


def _document_id(tenant: str, memory_id: str) -> str:
    """Return a unique key of characters that the service accepts: letters, digits, `_`, `-` and `=`."""
    line = f"{len(tenant)}:{tenant}{memory_id}".encode()
    return "m" + base64.urlsafe_b64encode(line).decode()


def _document(memory: Memory) -> dict[str, Any]:
    return {
        "id": _document_id(memory.scope.tenant, memory.memory_id),
        "memory_id": memory.memory_id,
        "tenant": memory.scope.tenant,
        "level": memory.scope.level.value,
        "owner": memory.scope.owner,
        "kind": memory.kind.value,
        "status": memory.status.value,
        "key": memory.key,
        "category": memory.category,
        "content": memory.content,
        "context": memory.context,
        "happened_at": to_micros(memory.happened_at),
        "expires_at": to_micros(memory.expires_at),
        "version": memory.version,
        "vector": None if memory.vector is None else array("f", memory.vector).tolist(),
    }
