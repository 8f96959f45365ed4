"""The language model of the settings: its address, and whether it answers."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from mnemic.bootstrap.models import DEFAULT_MODEL, build_completer, missing_client, vendor_of
from mnemic.cli.failures import Exit
from mnemic.cli.health import Finding
from mnemic.errors import MnemicError, ModelTimeout, ModelUnavailable, error_behind
from mnemic.runtime.clock import SystemClock
from mnemic.types import Deadline, Prompt

if TYPE_CHECKING:
    from mnemic.config import Settings

LONGEST = timedelta(seconds=20)
"""Wait for the model's answer to `mnemic doctor`; a model that is loaded from disk at its first call takes some."""


def model_place(settings: Settings) -> str:
    """Return the model's name and the address at which it is asked, without a password in it."""
    place = "its own address" if vendor_of(settings) else "the OpenAI API"
    return f"{settings.model or DEFAULT_MODEL} at {_without_password(settings.models_address) or place}"


def asked_at(settings: Settings, reason: str) -> str | None:
    """Return the address of a model that could not be reached or did not answer; None for any other reason."""
    unreached = issubclass(error_behind(reason), ModelUnavailable | ModelTimeout)
    return f"asked {model_place(settings)}" if unreached and settings.has_model else None


def model_finding(settings: Settings) -> Finding:
    """Ask the configured model one short question, and report the result."""
    import asyncio

    if not settings.has_model:
        text = "none asked for (MNEMIC_MODEL): rules propose, templates answer"
        return Finding(name="model", ok=None, detail=text, facts={"configured": False})
    facts = {"configured": True}
    missing = missing_client(settings)
    if missing:
        return Finding(name="model", ok=False, detail=f"{model_place(settings)}; {missing}", facts=facts)
    try:
        asyncio.run(_asked(settings))
    except MnemicError as error:
        detail = f"{model_place(settings)}; {error.reason}" + (f" - {error.hint}" if error.hint else "")
        return Finding(name="model", ok=False, detail=detail, code=Exit.MODEL, facts={**facts, "answers": False})
    return Finding(
        name="model", ok=True, detail=f"{model_place(settings)}; it answers", facts={**facts, "answers": True}
    )


async def _asked(settings: Settings) -> None:
    """Ask for a word. Raises ModelFailed, InvalidConfig or MissingExtra."""
    clock = SystemClock()
    completer = build_completer(settings, clock)
    if completer is None:
        return
    try:
        prompt = Prompt(system='Answer with the JSON object {"ok": true}.', user="Are you there?", max_output_tokens=20)
        await completer.complete(prompt, deadline=Deadline.after(LONGEST, clock.monotonic))
    finally:
        await completer.close()


def _without_password(address: str | None) -> str | None:
    parts = urlsplit(address or "")
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) or None
