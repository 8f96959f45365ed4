"""Reason codes of the service, in addition to those of `mnemic.reason_codes`: none is ever renamed
(docs/service.md).
"""

from __future__ import annotations

UNAUTHENTICATED = "unauthenticated"
ROLE_REQUIRED = "role_required"
USER_REQUIRED = "user_required"
APPLICATION_REQUIRED = "application_required"
HOME_TENANT_REQUIRED = "home_tenant_required"
TENANT_SUSPENDED = "tenant_suspended"
CSRF_TOKEN = "csrf_token"  # noqa: S105 - the name of a reason, no secret
CROSS_SITE = "cross_site"
FOREIGN_HOST = "foreign_host"
NOT_FOUND = "not_found"
METHOD_NOT_ALLOWED = "method_not_allowed"
REQUEST_TIMEOUT = "request_timeout"
RATE_LIMITED = "rate_limited"
TOO_MANY_REQUESTS = "too_many_requests"
TOO_MANY_FAILURES = "too_many_failures"
TOO_MANY_STREAMS = "too_many_streams"
TOO_MANY_ERASURES = "too_many_erasures"
INTERRUPTED = "interrupted"
INTERNAL_ERROR = "internal_error"
