"""The write path: nine steps in three phases, one file a step."""

from __future__ import annotations

HELD = "\ufdd0"
"""Stands for what was replaced while the rest of a text is searched: a noncharacter, so no text holds it, and no word
character, so it bounds a word as brackets do.
"""
