"""A throwaway certificate authority, and a front that ends TLS before a plain server, as stunnel does."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = timedelta(days=1)


class Authority:
    """Signs certificates for 127.0.0.1; `ca` is what a client must trust."""

    def __init__(self, folder: Path, name: str = "ca") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"throwaway {name}")])
        self.ca = folder / f"{name}.pem"
        self.ca.write_bytes(_pem(self._signed(self._name, self._key, authority=True)))

    def server_context(self) -> ssl.SSLContext:
        """What a server needs to show a certificate of this authority."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
        file = self._folder / f"{self.ca.stem}-server.pem"
        pair = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file.write_bytes(pair + _pem(self._signed(name, key, authority=False)))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _signed(self, name: x509.Name, key: ec.EllipticCurvePrivateKey, *, authority: bool) -> x509.Certificate:
        now = datetime.now(UTC)
        made = x509.CertificateBuilder(
            issuer_name=self._name,
            subject_name=name,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now - _DAY,
            not_valid_after=now + _DAY,
        ).add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        if not authority:
            names = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
            made = made.add_extension(names, critical=False)
        return made.sign(self._key, hashes.SHA256())


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


class TlsFront:
    """Takes TLS on `port` of the loopback and passes what is in it to a plain server. `handshakes`: how many came
    through.
    """

    def __init__(self, server: tuple[str, int], context: ssl.SSLContext) -> None:
        self._server = server
        self._context = context
        self.port = 0
        self.handshakes = 0

    async def __aenter__(self) -> Self:
        self._listening = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._context)
        self.port = self._listening.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.handshakes += 1
        inner_reader, inner_writer = await asyncio.open_connection(*self._server)
        await asyncio.gather(_passed(reader, inner_writer), _passed(inner_reader, writer))


async def _passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
