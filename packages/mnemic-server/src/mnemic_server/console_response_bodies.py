"""Response bodies about webhooks, uploads, daily activity, and the service's own settings."""

from __future__ import annotations

from mnemic_server.openapi_descriptions import ResponseBody


class WebhookResponse(ResponseBody):
    """A webhook, and how its deliveries go."""

    webhook_id: str
    url: str
    actions: list[str]
    with_content: bool
    label: str
    created_at: str
    created_by: str
    failures: int
    next_at: str | None
    disabled_at: str | None
    delivered_at: str | None
    outcome: str | None


class WebhooksResponse(ResponseBody):
    """The webhooks of the tenant."""

    webhooks: list[WebhookResponse]


class NewWebhookResponse(WebhookResponse):
    """A webhook with its secret, which is shown this once."""

    secret: str


class FormatsResponse(ResponseBody):
    """Formats of files that can be imported."""

    formats: list[str]


class PlaceFailed(ResponseBody):
    """A place of a file that could not be used."""

    place: str
    reason: str


class FactLearnt(ResponseBody):
    """A fact that an import stored (`change` is `new`), changed, or proposed (`waits`), and the values before it;
    without an identifier while it is only counted.
    """

    change: str
    memory_id: str | None
    key: str | None
    content: str
    was: list[str]


class StatementLeftOut(ResponseBody):
    """A statement of the user that did not become a fact: the place of its message, the reason, its first words."""

    place: str
    reason: str
    words: str


class UploadResponse(ResponseBody):
    """Result of one part of an imported file."""

    entries: int
    messages: int
    memories: int
    recorded: int
    refreshed: int
    captured: dict[str, int]
    waiting: int
    blocked: dict[str, int]
    left_out: dict[str, int]
    skipped: dict[str, int]
    failed: list[PlaceFailed]
    learnt: list[FactLearnt]
    passed_over: list[StatementLeftOut]
    degraded: dict[str, int]
    stopped: str | None
    import_id: str | None
    dry_run: bool
    speakers: list[str]


class DayResponse(ResponseBody):
    """Activity of one day (UTC)."""

    day: str
    written: int
    forgotten: int
    used: int
    tokens: int


class PeriodResponse(ResponseBody):
    """Activity of some days together."""

    written: int
    forgotten: int
    used: int
    tokens: int
    typical_ms: float | None
    slow_ms: float | None


class ActivityResponse(ResponseBody):
    """The last days, oldest first."""

    days: list[DayResponse]
    period: PeriodResponse
    period_before: PeriodResponse | None
    complete: bool


class SettingResponse(ResponseBody):
    """A setting of the service."""

    name: str
    value: str | None
    is_default: bool
    meaning: str


class SettingsResponse(ResponseBody):
    """The settings in force."""

    settings: list[SettingResponse]
