"""The clients of the vendors, each made for one address and one key.

A key is sent only to the server that it was set for: a key in the environment for a vendor's client goes to that
vendor's address, or to the address in that client's variables. No client follows a redirection, which would
take the user's words along, and perhaps the key.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mnemic.errors import InvalidConfig
from mnemic.plugins.extras import brought_by

if TYPE_CHECKING:
    from pydantic_ai.providers import Provider

ANTHROPIC = "https://api.anthropic.com"
GEMINI = "https://generativelanguage.googleapis.com"
COHERE = "https://api.cohere.com"
VOYAGE = "https://api.voyageai.com/v1"
OLLAMA = "http://localhost:11434/v1"
NO_KEY = "none"
"""Placeholder for servers that ask for no key: the clients insist on one."""


@dataclass(frozen=True, slots=True)
class Server:
    """Address and key that the settings state for one purpose; None if they state none."""

    url: str | None = None
    key: str | None = None

    def resolve_server(self, own: str, keys: tuple[str, ...], address: str) -> tuple[str, str]:
        """Return address and key of the vendor: an address of the settings gets no key but that of the settings, and a
        key of the settings goes to no address of the environment. If the settings state neither, the variables of the
        vendor's client are used, `keys` together with `address`. `own`: the vendor's address, "" if it has none.

        Raises InvalidConfig (`invalid_config:api_key`, `invalid_config:model_url`).
        """
        if self.url is not None:
            return self.url, self.key or NO_KEY
        if self.key is not None:
            return _vendor_name(own, address), self.key
        found = next((os.environ[name] for name in keys if os.environ.get(name)), None)
        if found is None:
            raise InvalidConfig("api_key", hint=f"set MNEMIC_API_KEY or {keys[0]}")
        return _vendor_name(os.environ.get(address) or own, address), found


def _vendor_name(url: str, address: str) -> str:
    if not url:
        raise InvalidConfig("model_url", hint=f"set MNEMIC_MODEL_URL, or {address} with its key")
    return url


@dataclass(frozen=True, slots=True)
class Client:
    """A vendor's client as Pydantic AI takes it, and the function that closes its connections."""

    provider: Provider[Any]
    close: Callable[[], Awaitable[object]]


def anthropic(server: Server) -> Client:
    """Open Anthropic's client."""
    with brought_by("anthropic"):
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient
        from pydantic_ai.providers.anthropic import AnthropicProvider
    url, key = server.resolve_server(ANTHROPIC, ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL")
    http = DefaultAsyncHttpxClient(follow_redirects=False)
    client = AsyncAnthropic(api_key=key, base_url=url, max_retries=0, http_client=http)
    return Client(AnthropicProvider(anthropic_client=client), client.close)


def gemini(server: Server) -> Client:
    """Open Google's client for the Gemini API."""
    with brought_by("gemini"):
        from httpx2 import AsyncClient
        from pydantic_ai.providers.google import GoogleProvider
    url, key = server.resolve_server(GEMINI, ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "GOOGLE_GEMINI_BASE_URL")
    http = AsyncClient(timeout=None)
    return Client(GoogleProvider(api_key=key, base_url=url, http_client=http), http.aclose)


def bedrock(server: Server, timeout: float) -> Client:
    """Open AWS's client for Bedrock: a key is one of Bedrock's own, without one the usual credentials of AWS are used.
    Region and profile are those of AWS's variables and files.
    """
    with brought_by("bedrock"):
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
        from pydantic_ai.providers.bedrock import BedrockProvider
    # boto3 would send a bearer token of the environment to any address; signed requests carry no secret.
    signing = (
        {} if server.url is None and server.key is None else {"signature_version": "bearer" if server.key else "v4"}
    )
    config = Config(connect_timeout=timeout, read_timeout=timeout, retries={"total_max_attempts": 1}, **signing)
    try:
        token = None if server.key is None else _with_token(server.key)
        # The other clients of AWS read AWS_REGION, boto3 only AWS_DEFAULT_REGION.
        session = boto3.Session(botocore_session=token, region_name=os.environ.get("AWS_REGION"))
        client = session.client("bedrock-runtime", config=config, endpoint_url=server.url)
    except BotoCoreError as error:
        raise InvalidConfig("bedrock", hint=f"set AWS_REGION and credentials: {type(error).__name__}") from None

    async def close() -> None:
        client.close()

    return Client(BedrockProvider(bedrock_client=client), close)


def _with_token(token: str) -> Any:
    """Return a session of botocore that signs with this token of Bedrock's."""
    from botocore.session import Session
    from botocore.tokens import FrozenAuthToken

    class TokenSession(Session):  # type: ignore[misc]
        def get_auth_token(self, **_: object) -> FrozenAuthToken:
            return FrozenAuthToken(token)

        def get_credentials(self) -> None:
            return None

    return TokenSession()


def azure(server: Server) -> Client:
    """Open the client of Azure OpenAI. The address is that of a resource, as `https://NAME.openai.azure.com/openai/v1/`
    (or without a path, with the version of OPENAI_API_VERSION); the model is the name of a deployment.
    """
    with brought_by("azure-openai"):
        from openai import DefaultAsyncHttpxClient
        from pydantic_ai.providers.azure import AzureProvider
    url, key = server.resolve_server("", ("AZURE_OPENAI_API_KEY",), "AZURE_OPENAI_ENDPOINT")
    http = DefaultAsyncHttpxClient(follow_redirects=False)
    version = os.environ.get("OPENAI_API_VERSION")
    provider = AzureProvider(azure_endpoint=url, api_key=key, api_version=version, http_client=http)
    provider.client.max_retries = 0
    return Client(provider, provider.client.close)


def ollama(server: Server) -> Client:
    """Open OpenAI's client on Ollama's address for it, by default that of this machine."""
    with brought_by("ollama"):
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient
        from pydantic_ai.providers.ollama import OllamaProvider
    url = (server.url or OLLAMA).rstrip("/")
    client = AsyncOpenAI(
        base_url=url if url.endswith("/v1") else f"{url}/v1",
        api_key=server.key or NO_KEY,
        max_retries=0,
        http_client=DefaultAsyncHttpxClient(follow_redirects=False),
    )
    return Client(OllamaProvider(openai_client=client), client.close)


def cohere(server: Server, timeout: float) -> Client:
    """Open Cohere's client."""
    with brought_by("cohere"):
        from cohere import AsyncClientV2
        from httpx import AsyncClient
        from pydantic_ai.providers.cohere import CohereProvider
    http = AsyncClient(timeout=timeout)
    url, key = server.resolve_server(COHERE, ("CO_API_KEY",), "CO_BASE_URL")
    client = AsyncClientV2(api_key=key, base_url=url, httpx_client=http)
    return Client(CohereProvider(cohere_client=client), http.aclose)


def voyage(server: Server, timeout: float) -> Client:
    """Open Voyage's client."""
    with brought_by("voyage"):
        import voyageai
        from aiohttp import ClientHandlerType, ClientRequest, ClientResponse, ClientSession, ServerDisconnectedError
        from pydantic_ai.providers.voyageai import VoyageAIProvider
        from voyageai.client_async import AsyncClient
    url, key = server.resolve_server(VOYAGE, ("VOYAGE_API_KEY",), "VOYAGE_BASE_URL")

    async def here_only(request: ClientRequest, handler: ClientHandlerType) -> ClientResponse:
        answer = await handler(request)
        if 300 <= answer.status < 400:
            answer.close()
            raise ServerDisconnectedError("a redirection is not followed")
        return answer

    class Staying(AsyncClient):
        async def embed(self, *texts: Any, **options: Any) -> Any:  # type: ignore[override]
            async with ClientSession(middlewares=(here_only,)) as session:
                token = voyageai.aiosession.set(session)
                try:
                    return await super().embed(*texts, **options)
                finally:
                    voyageai.aiosession.reset(token)

    client = Staying(api_key=key, base_url=url, max_retries=0, timeout=timeout)

    async def close() -> None:
        """Do nothing: each call opens a new connection."""

    return Client(VoyageAIProvider(voyageai_client=client), close)
