"""German spelling that affects sentence splitting: an ordinal number ends in a full stop ("am 3. Mai", "2. Klasse")."""

from __future__ import annotations

AFTER_ORDINALS = (
    "Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Klasse|Stock|Stockwerk|"
    "Etage|Liga|Semester|Schuljahr|Lehrjahr|Schicht|Platz|Geburtstag|Hochzeitstag|Quartal|Halbjahr|Monat|Woche|Kind|"
    "Schwangerschaftswoche|Rang|Reihe|Versuch|Auflage|Bezirk|Stunde"
)
"""Nouns that follow an ordinal number, as alternatives of a pattern."""
