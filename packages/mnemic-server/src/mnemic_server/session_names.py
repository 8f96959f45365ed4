"""The conversation in progress of a request, by the name that its caller gives it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Annotated
from urllib.parse import unquote

from fastapi import Header

from mnemic.types import Actor

SessionName = Annotated[str | None, Header(alias="Mnemic-Session", min_length=1, max_length=512)]


def in_session(actor: Actor, named: str | None) -> Actor:
    """Return the actor in the conversation that a request names, percent-encoded; if the credential names one, in that.
    Each caller has separate names: others' conversations of the same name are different ones.
    """
    if named is None or actor.session is not None:
        return actor
    name = unquote(named)
    digest = hashlib.sha256(json.dumps([actor.user, name]).encode("utf-8", "surrogatepass")).hexdigest()
    shown = "".join(sign for sign in name if (sign.isascii() and sign.isalnum()) or sign in "_.:-")
    return replace(actor, session=f"{shown[:64]}@{digest[:32]}")
