"""Words for relations in questions: "my sister's employer", "mein Chef", "où travaille Ana"."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mnemic.language.entities.phrases import KIN_WORDS
from mnemic.language.entities.relations import KIN
from mnemic.language.text.analyse import analyse
from mnemic.language.text.names import fold_name

# By relation, without accents: English, German, Spanish and French.
_ASKED = {
    "works_at": "employer company firm job office work works working worked arbeitgeber firma arbeit buro arbeite "
    "arbeitet empresa trabajo trabaja oficina employeur entreprise travail travaille bureau",
    "studies_at": "school university college study studies studying schule universitat uni studiere studiert escuela "
    "universidad estudio estudia ecole universite etudie",
    "lives_in": "live lives living lived home where city town country address wohne wohnt lebe lebt zuhause wo stadt "
    "ort vivo vive donde ciudad pais habite vit ou ville pays",
    "located_in": "located based where city town country wo stadt ort land sitz donde ciudad pais ou ville pays",
    "born_in": "born birthplace geboren geburtsort nacio naci ne nee",
    "comes_from": "origin hometown herkunft kommt stammt viene origine vient",
    "married_to": "married spouse wife husband verheiratet ehemann ehefrau frau mann casado casada esposo esposa "
    "marido marie mariee mari femme",
    "leads": "runs leads heads ceo head chief boss director leitet chef chefin dirige jefe jefa",
    "founded": "founded founder founders gegrundet grunder fundo fundador fondateur",
    "member_of": "member members team club band mitglied verein miembro equipo membre equipe",
    "knows": "know knows met kennt conoce connait",
    "owns": "own owns owner besitzt posee possede",
    "pet": "pet pets haustier hund katze mascota chien",
    "near": "near nearby cerca pres",
    "sister": "sisters sibling siblings schwester schwestern geschwister soeur sœur",
    "brother": "brothers sibling siblings bruder geschwister frere",
    "mother": "parents mutter mama eltern mere",
    "father": "parents vater papa eltern pere",
    "son": "children kids sohn kinder fils",
    "daughter": "children kids tochter kinder fille",
    "child": "children kids kinder kind enfant hijos",
    "wife": "spouse frau ehefrau femme epouse",
    "husband": "spouse mann ehemann mari epoux",
    "partner": "partnerin lebensgefahrte compagnon",
    "girlfriend": "freundin",
    "boyfriend": "freund",
    "friend": "friends freund freundin freunde ami amie",
    "colleague": "colleagues coworkers kollege kollegin kollegen collegue",
    "boss": "chef chefin vorgesetzte vorgesetzter patron patronne",
    "cousin": "cousins cousine vetter",
    "aunt": "tante",
    "uncle": "onkel oncle",
    "niece": "nichte",
    "nephew": "neffe neveu",
    "grandmother": "granny oma grossmutter grand-mere",
    "grandfather": "opa grossvater grand-pere",
    "grandson": "enkel petit-fils",
    "granddaughter": "enkelin petite-fille",
    "neighbour": "neighbours neighbors nachbar nachbarin voisin voisine",
    "roommate": "mitbewohner mitbewohnerin colocataire",
}


def _by_word() -> Mapping[str, frozenset[str]]:
    meant: dict[str, set[str]] = {}
    for relation, words in _ASKED.items():
        for word in words.split():
            meant.setdefault(word, set()).add(relation)
    for word, relation in KIN_WORDS.items():
        meant.setdefault(fold_name(word), set()).add(relation)
    return MappingProxyType({word: frozenset(relations) for word, relations in meant.items()})


RELATION_WORDS = _by_word()
"""Possible relations of each word."""

_MINE = frozenset(
    "my our i we mein meine meiner meinem meinen ich unser unsere mi mis yo nuestro nuestra mon ma mes je notre".split()
)
_OF_MINE = KIN | {"works_at", "studies_at", "lives_in", "married_to"}
_FURTHEST = 3
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class AskedRelations:
    """Relations in a question. `mine` are the relations of a person meant by their relation to the user ("my sister",
    "where I work"); `words` are the terms of the question, for relations without an entry in these tables.
    """

    said: frozenset[str]
    mine: frozenset[str]
    words: frozenset[str]

    def says(self, relation: str, *, common: Collection[str] = ()) -> bool:
        """Return True if the question mentions this relation: by a word for it, or by one of the words in its name."""
        if relation in self.said:
            return True
        spelled = [word for word in relation.split("_") if word not in common]
        return not self.words.isdisjoint(analyse(" ".join(spelled)).sequence)


def read_asked(question: str) -> AskedRelations:
    """Return the relations that `question` mentions. After a possessive only the first relation counts: "my friend's
    boss" is not the user's boss.
    """
    words = _WORD.findall(fold_name(question))
    meant = [RELATION_WORDS.get(word, frozenset()) for word in words]
    mine: set[str] = set()
    for at, word in enumerate(words):
        if word in _MINE:
            mine |= next(filter(None, meant[at + 1 : at + 1 + _FURTHEST]), frozenset())
    return AskedRelations(
        said=frozenset().union(*meant),
        mine=frozenset(mine) & _OF_MINE,
        words=frozenset(analyse(question).sequence),
    )
