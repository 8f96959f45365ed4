"""Structured data of a memory that a service keeps: shapes of the service, and shapes that this program defines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from mnemic.plugins.extras import brought_by
from mnemic.retrieve.export import from_dict
from mnemic.runtime.sync_facade import Awaited, M, verb
from mnemic.types import Memory, Origin, Readings, WriteReceipt
from mnemic_client.kinds import RemoteView
from mnemic_client.request_bodies import iso, lower, memories, receipts
from mnemic_client.request_bodies import memory_address as place_of

if TYPE_CHECKING:
    from mnemic.structured.shape import Shape
    from mnemic.structured.structured_memory import StructuredMemory


class RemoteData(RemoteView[M]):
    """Data of known shapes; see `mnemic.structured.structured_memory`.

    The service validates data of the shapes it defines. A shape defined here stays here, as with a local file: this
    program validates and merges the data, and the service stores it like any other memory.
    """

    _service: Mapping[str, Shape] | None = None
    _here: StructuredMemory[Awaited] | None = None

    @property
    def shapes(self) -> dict[str, Shape]:
        """The shapes that are known, by name. The service is asked for its own the first time, and a caller that awaits
        is kept waiting for it like any other.
        """
        if self._service is None:
            self._service = _shaping().known_at(self._remote, self.call_mode.call)
        return {**(self._service or {}), **self._defined}

    @property
    def _defined(self) -> dict[str, Shape]:
        return {} if self._here is None else self._here.shapes

    @property
    def _own(self) -> StructuredMemory[Awaited]:
        """The library's verbs for shapes that are defined here, on memories of the service."""
        if self._here is None:
            self._here = _shaping().kept_at(self._remote)
        return self._here

    def define(self, name: str, schema: Mapping[str, Any], *, identity: Sequence[str] = ()) -> Shape:
        """Let data called `name` be put through this view. Raises as the library's `define`."""
        return self._own.define(name, schema, identity=identity)

    @verb
    async def put(
        self, name: str, data: Mapping[str, Any], *, origin: Origin = Origin.USER_STATED
    ) -> Sequence[WriteReceipt]:
        """Keep data of the shape `name`; one receipt for each memory made or changed."""
        if name in self._defined:
            return await self._own.put(name, data, origin=origin)
        body = {"data": dict(data), "origin": lower(origin)}
        return receipts(await self._remote.call("POST", f"/v1/structured/{name}", body))

    @verb
    async def query(self, name: str, where: Mapping[str, Any] | None = None, *, limit: int = 50) -> Sequence[Memory]:
        """Return the newest data of the shape `name` whose fields are as `where` wants them."""
        if name in self._defined:
            return await self._own.query(name, where, limit=limit)
        body = {"where": dict(where or {}), "limit": limit}
        answer = await self._remote.call("POST", f"/v1/structured/{name}/query", body, repeatable=True)
        return [from_dict(one) for one in answer["memories"]]

    @verb
    async def extract(
        self, text: str, name: str | None = None, *, sent_at: datetime | None = None
    ) -> Readings[dict[str, Any]]:
        """Find what `text` tells of the shape `name`, or of all that installed packages read, ready to be put; nothing
        is stored. Readers and model are those of the service.
        """
        return await self._extract_data(text, name, sent_at)

    @verb
    async def capture(
        self, text: str, name: str | None = None, *, sent_at: datetime | None = None, origin: Origin = Origin.IMPORT
    ) -> Readings[WriteReceipt]:
        """Put what `extract` finds in `text`. Raises what `extract` and `put` do."""
        if name is not None and name in self._defined:
            found = await self._extract_data(text, name, sent_at)
            put = [one for data in found for one in await self._own.put(name, data, origin=origin)]
            return Readings(put, found.degraded)
        body = {"text": text, "name": name, "sent_at": iso(sent_at, "sent_at")}
        body["origin"] = lower(origin) or Origin.USER_STATED.value
        answer = await self._remote.call("POST", "/v1/structured/capture", body)
        return Readings(receipts(answer), answer["degraded"])

    @verb
    async def history(self, memory_id: str) -> Sequence[Memory]:
        """All versions of it, oldest first. Raises MemoryNotFound."""
        return memories((await self._remote.call("GET", f"{place_of(memory_id)}/history"))["versions"])

    async def _extract_data(self, text: str, name: str | None, sent_at: datetime | None) -> Readings[dict[str, Any]]:
        own = self._defined.get(name or "")
        body = {"text": text, "name": name, "sent_at": iso(sent_at, "sent_at")}
        if own is not None:
            body["json_schema"] = cast(Any, own.schema.document)
        answer = await self._remote.call("POST", "/v1/structured/extract", body, repeatable=True)
        found = (one for one in answer["data"] if own is None or not any(own.schema.problems(one)))
        return Readings(found, answer["degraded"])


def _shaping() -> Any:
    """Shapes and their schemas, which need `mnemic[structured]`: loaded where a shape is used here, and only there."""
    with brought_by("structured"):
        return import_module("mnemic_client.data_shapes")
