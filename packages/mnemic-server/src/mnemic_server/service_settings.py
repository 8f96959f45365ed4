"""Settings of the service: addresses, trusted callers, limits of requests and connections."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from mnemic.config import ENV_FILE
from mnemic.errors import InvalidConfig
from mnemic_server.bearer_tokens import Claims, Provider
from mnemic_server.connections import Connections, Networks, Timeouts, networks
from mnemic_server.oidc_sign_in import Client
from mnemic_server.rate_limit import PER_SECOND, TENANT_PER_SECOND
from mnemic_server.request_limits import RequestLimits


class ServiceSettings(BaseSettings):
    """Settings of how the service listens and which callers it trusts. Every field is also an environment variable
    `MNEMIC_SERVICE_<NAME>`.
    """

    model_config = SettingsConfigDict(env_prefix="MNEMIC_SERVICE_", extra="ignore")

    host: str = Field(default="127.0.0.1", description="Address to listen at.")
    port: int = Field(default=8377, ge=0, le=65_535, description="Port to listen at; 0 takes a free one.")
    workers: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Processes that answer requests. Rates and other limits are for each of them; with more than one, "
        "conversations in progress need Redis.",
    )
    issuer: str | None = Field(default=None, description="Issuer of the OpenID provider whose tokens are accepted.")
    audience: str | None = Field(default=None, description="Audience that those tokens must contain.")
    jwks: str | None = Field(
        default=None,
        description="That provider's public keys (JWKS): a file, or an https address to fetch them from.",
    )
    user_claim: str = Field(default="sub", description="The claim of those tokens that names the user.")
    tenant_claim: str = Field(default="tenant", description="The claim that names the tenant.")
    default_tenant: str | None = Field(
        default=None, description="Tenant of tokens that name none. Default: the service's own."
    )
    roles_claim: str = Field(default="roles", description="The claim that lists the roles.")
    client_id: str | None = Field(
        default=None, description="Client ID of the console at that provider; with it, people can sign in there."
    )
    client_secret: SecretStr | None = Field(default=None, description="Secret of that client, if it has one.")
    client_secret_file: Path | None = Field(default=None, description="File with that secret.")
    url: str | None = Field(
        default=None,
        description="Address at which browsers reach the service behind a proxy; the provider redirects there.",
    )
    cors_origins: str = Field(
        default="",
        description="Origins whose pages may call the service, separated by commas, such as https://app.example.com. "
        "Their calls need a credential; the console's session does not apply to them. Default: none.",
    )
    scope: str = Field(default="openid", description="Scopes requested at sign-in.")
    sign_out_at_provider: bool = Field(
        default=True, description="Signing out of the console also signs out at the provider, if it supports that."
    )
    max_bytes: int = Field(default=2 * 1024 * 1024, ge=1024, description="Largest body of a request, in bytes.")
    request_timeout_seconds: float = Field(
        default=30.0, gt=0, description="Longest time to answer a request, in seconds."
    )
    max_concurrent_requests: int = Field(
        default=64, ge=1, description="Requests answered at the same time; further ones have to wait."
    )
    max_concurrent_model_calls: int = Field(
        default=32,
        ge=1,
        description="Further requests that may wait for a language model (capture, runs, imports).",
    )
    requests_per_second: float = Field(default=PER_SECOND, gt=0, description="Requests per second of one credential.")
    tenant_requests_per_second: float = Field(
        default=TENANT_PER_SECOND, gt=0, description="Requests per second of one tenant."
    )
    connections: int = Field(
        default=4096, ge=8, description="Open connections; at most half of the process's limit of open files."
    )
    address_connections: int = Field(default=256, ge=8, description="Open connections of one address.")
    proxies: str = Field(
        default="127.0.0.1,::1",
        description="Addresses or ranges (10.0.0.0/8) of proxies, separated by commas. Their X-Forwarded-For and "
        "-Proto are trusted, and the limit for one address does not apply to them.",
    )
    head_timeout_seconds: float = Field(
        default=10.0, gt=0, description="Longest time to receive the head of a request, in seconds."
    )
    body_timeout_seconds: float = Field(
        default=10.0, gt=0, description="Longest time to receive its body, in seconds, plus one second for each 64 KiB."
    )
    reading_timeout_seconds: float = Field(
        default=30.0,
        gt=0,
        description="Longest time for which a client may stall while reading a response, in seconds.",
    )
    keep_alive_seconds: int = Field(
        default=75,
        ge=1,
        description="Longest time that an idle connection stays open. Choose it longer than that of the proxy or "
        "client, so that no request is sent into a connection that is being closed.",
    )
    allow_private_webhooks: bool = Field(
        default=False,
        description="Allow webhooks to private addresses, such as those of the service's own network, and without TLS. "
        "Default: public addresses over https only.",
    )
    open_metrics: bool = Field(
        default=False,
        description="Answer /metrics without a credential. Default: to the role operator only.",
    )
    log: Literal["text", "json"] = Field(default="text", description="Format of the log on standard error.")
    log_requests: bool = Field(default=False, description="Log every request, not only slow ones.")
    slow_ms: float = Field(default=1000.0, gt=0, description="Requests that take longer, in milliseconds, are logged.")
    drain_seconds: int = Field(
        default=20, ge=0, description="Seconds for running requests to finish when the service stops."
    )

    @classmethod
    def load(cls, **overrides: object) -> ServiceSettings:
        """Return the settings from the environment with `overrides` on top; those that are None are left out. Raises
        InvalidConfig.
        """
        try:
            given: dict[str, Any] = {name: value for name, value in overrides.items() if value is not None}
            # pydantic-settings takes `_env_file` as a keyword that its types do not declare.
            return cls(_env_file=os.environ.get(ENV_FILE), **given)  # type: ignore[call-arg]
        except ValidationError as invalid:
            # Without the input, which may be a secret.
            first = invalid.errors(include_input=False, include_url=False)[0]
            raise InvalidConfig(f"service_{first['loc'][0]}", hint=str(first["msg"])) from None

    def provider(self, default_tenant: str) -> Provider | None:
        """Return the OpenID provider, if one is named. Raises InvalidConfig if only a part of it is."""
        named = (self.issuer, self.audience, self.jwks)
        if not any(named):
            return None
        if self.issuer is None or self.audience is None or self.jwks is None:
            raise InvalidConfig("service_issuer", hint="issuer, audience and jwks belong together")
        return Provider.from_jwks(
            self.jwks,
            issuer=self.issuer,
            audience=self.audience,
            claims=Claims(user=self.user_claim, tenant=self.tenant_claim, roles=self.roles_claim),
            default_tenant=self.default_tenant or default_tenant,
        )

    def origins(self) -> frozenset[str]:
        """Return the origins of other sites' pages that may call the service. Raises InvalidConfig for an invalid
        origin.
        """
        named = frozenset(one.strip().rstrip("/") for one in self.cors_origins.split(",") if one.strip())
        for one in named:
            scheme, _, place = one.partition("://")
            # No wildcards: an origin of CORS is compared as a whole.
            if scheme not in ("http", "https") or not place or "/" in place or "*" in place:
                raise InvalidConfig("service_cors_origins", hint="https://app.example.com, without a path or *")
        return named

    def rates(self) -> dict[str, Any]:
        """Return the rate limits of callers, the allowed addresses of webhooks, and who may read metrics, as arguments
        of `create_app`.
        """
        burst = max(1, int(2 * self.requests_per_second))
        return {
            "per_second": self.requests_per_second,
            "tenant_per_second": self.tenant_requests_per_second,
            "burst": burst,
            "private_webhooks": self.allow_private_webhooks,
            "open_metrics": self.open_metrics,
        }

    def bounds(self) -> RequestLimits:
        """Return the limits of a request."""
        return RequestLimits(
            max_bytes=self.max_bytes,
            seconds=self.request_timeout_seconds,
            at_once=self.max_concurrent_requests,
            models_at_once=self.max_concurrent_model_calls,
        )

    def connection_limits(self) -> Connections:
        """Return the connections, with the limits of the settings."""
        return Connections(
            most=self.connections,
            per_address=self.address_connections,
            proxies=self._proxies(),
            timeouts=Timeouts(
                head=self.head_timeout_seconds,
                body=self.body_timeout_seconds,
                reading=self.reading_timeout_seconds,
            ),
        )

    def _proxies(self) -> Networks:
        """Return the addresses of proxies. Raises InvalidConfig for what is neither an address nor a range."""
        try:
            return networks(self.proxies)
        except ValueError:
            raise InvalidConfig("service_proxies", hint="addresses or ranges such as 10.0.0.0/8, by commas") from None

    def client(self) -> Client | None:
        """Return the client that people sign in to the console with at the provider; None if none is named. Raises
        InvalidConfig.
        """
        if self.client_id is None:
            return None
        if self.issuer is None:
            raise InvalidConfig("service_client_id", hint="issuer, audience and jwks belong to it")
        secret = None if self.client_secret is None else self.client_secret.get_secret_value()
        if self.client_secret_file is not None:
            try:
                secret = self.client_secret_file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError):
                raise InvalidConfig("service_client_secret_file", hint="cannot be read") from None
        return Client(
            issuer=self.issuer,
            client_id=self.client_id,
            secret=secret,
            url=self.url,
            scope=self.scope,
            ends_session=self.sign_out_at_provider,
        )
