"""Relations extracted from texts: their ends, their cardinality, and their wordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

PERSON, ORGANISATION, PLACE, ANIMAL, RESTAURANT, THING = (
    "person",
    "organisation",
    "place",
    "animal",
    "restaurant",
    "thing",
)
USER = "user"
SAME_AS = "same_as"
"""Relation from another name to the usual name of the same entity: facts of either name belong to one entity."""

LABELS = frozenset({PERSON, ORGANISATION, PLACE, ANIMAL, RESTAURANT, THING, "event", "product", "topic"})
"""Entity types. `thing`: the text gives none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationRule:
    """Meaning of one relation. `single`: a new target ends the old one. `says` is the stored sentence."""

    relation: str
    says: str
    source: str = PERSON
    target: str = PERSON
    single: bool = False

    def sentence(self, source: str, target: str) -> str:
        """Return the relation in words."""
        return self.says.replace("{source}", source).replace("{target}", target)


def _kin(relation: str, *, single: bool = False) -> RelationRule:
    return RelationRule(relation=relation, says=f"{{target}} is the {relation} of {{source}}.", single=single)


_KIN = ("sister", "brother", "son", "daughter", "cousin", "aunt", "uncle", "niece", "nephew", "grandson")
_KIN_MANY = ("granddaughter", "grandmother", "grandfather", "friend", "colleague", "neighbour", "roommate", "child")
_KIN_ONE = ("mother", "father", "wife", "husband", "partner", "girlfriend", "boyfriend", "boss", "fiance")

_RULES = (
    *(_kin(relation) for relation in _KIN + _KIN_MANY),
    *(_kin(relation, single=True) for relation in _KIN_ONE),
    RelationRule(relation="works_at", says="{source} works at {target}.", target=ORGANISATION, single=True),
    RelationRule(relation="studies_at", says="{source} studies at {target}.", target=ORGANISATION, single=True),
    RelationRule(relation="lives_in", says="{source} lives in {target}.", target=PLACE, single=True),
    RelationRule(relation="born_in", says="{source} was born in {target}.", target=PLACE, single=True),
    RelationRule(relation="comes_from", says="{source} comes from {target}.", target=PLACE, single=True),
    RelationRule(relation="married_to", says="{source} is married to {target}.", single=True),
    RelationRule(relation="leads", says="{source} leads {target}.", target=ORGANISATION),
    RelationRule(relation="founded", says="{source} founded {target}.", target=ORGANISATION),
    RelationRule(relation="member_of", says="{source} is a member of {target}.", target=ORGANISATION),
    RelationRule(relation="knows", says="{source} knows {target}."),
    RelationRule(relation="pet", says="{target} is a pet of {source}.", target=ANIMAL),
    RelationRule(relation="owns", says="{source} owns {target}.", target=THING),
    RelationRule(relation="located_in", says="{source} is in {target}.", source=THING, target=PLACE),
    RelationRule(relation=SAME_AS, says="{source} is the same as {target}.", source=THING, target=THING),
    RelationRule(relation="near", says="{source} is near {target}.", source=THING, target=PLACE),
)

RELATIONS: Mapping[str, RelationRule] = MappingProxyType({rule.relation: rule for rule in _RULES})

KIN = frozenset(rule.relation for rule in _RULES if rule.says.startswith("{target} is the "))
"""Relations between people, read after "my" and after a name's 's."""


def rule_of(relation: str) -> RelationRule:
    """Return the rule of a relation; an unknown one connects any number of things."""
    words = relation.replace("_", " ")
    default = RelationRule(relation=relation, says=f"{{source}} {words} {{target}}.", source=THING, target=THING)
    return RELATIONS.get(relation, default)
