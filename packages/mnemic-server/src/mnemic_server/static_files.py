"""Static files for browsers: compressed once, with an ETag and a Content-Security-Policy."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Protocol

from fastapi import Response

TYPES = {
    "html": "text/html",
    "js": "text/javascript",
    "css": "text/css",
    "svg": "image/svg+xml",
    "png": "image/png",
}
"""Media types by the ending of a name."""


class PackageFile(Protocol):
    """A file of a package."""

    @property
    def name(self) -> str:
        """Its name without the folder."""
        ...

    def read_bytes(self) -> bytes:
        """Return the content."""
        ...


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file as it is sent, plain and compressed."""

    body: bytes
    packed: bytes
    media_type: str
    tag: str

    @classmethod
    def read(cls, entry: PackageFile) -> StaticFile | None:
        """Return the file; None if browsers are served no files of its kind."""
        media_type = TYPES.get(entry.name.rpartition(".")[2])
        if media_type is None:
            return None
        body = entry.read_bytes()
        return cls(body, gzip.compress(body, mtime=0), media_type, f'"{hashlib.sha256(body).hexdigest()[:20]}"')

    def answer(self, given: Mapping[str, str], policy: Mapping[str, str]) -> Response:
        """Return the answer to a request with the headers `given`: the file, or 304 if it has not changed."""
        packed = "gzip" in given.get("accept-encoding", "")
        body, tag = (self.packed, self.tag[:-1] + '-gzip"') if packed else (self.body, self.tag)
        headers = {**policy, "ETag": tag, "Vary": "Accept-Encoding"}
        if packed:
            headers["Content-Encoding"] = "gzip"
        if given.get("if-none-match") == tag:
            return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
        return Response(body, media_type=self.media_type, headers=headers)
