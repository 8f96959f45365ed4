"""Configuration of an installation."""

from __future__ import annotations

from mnemic.config.files import ENV_FILE
from mnemic.config.settings import OPENAIS_SERVER, SECRETS, Settings

__all__ = ["ENV_FILE", "OPENAIS_SERVER", "SECRETS", "Settings"]
