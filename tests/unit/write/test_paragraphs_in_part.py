"""Two paragraphs about different things stay side by side, also where one part of the first resembles the second."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic import MemoryManager

OLD = (
    (
        "Karla me pidió que le mandara los resúmenes mensuales con listas breves en lugar de párrafos extensos. "
        "Los mira en el móvil entre dos clases y un texto denso no encaja con su manera de trabajar."
    ),
    (
        "Prefiero los compiladores escritos a mano a los que genera una herramienta. Los errores que muestran son "
        "mucho mejores y el código se depura con menos esfuerzo. Es sobre todo una cuestión de gusto."
    ),
    (
        "Nora a révisé trois budgets de la fanfare cette semaine. Le dernier était le plus délicat : fallait-il "
        "compter les dons promis mais pas encore versés ? Elle prépare un résumé pour le trésorier avant vendredi."
    ),
)
NEW = (
    (
        "Bruno prefiere las actas del comité en hojas compartidas en lugar de mensajes sueltos o archivos "
        "adjuntos. Dice que así el contexto queda unido al cambio. Yo mismo adopto la misma costumbre."
    ),
    (
        "Greta préfère nettement écrire ses partitions à la main plutôt qu'avec un logiciel. Elle trouve le geste "
        "plus sûr et les ratures utiles. Je cesserai d'essayer de convertir ses feuilles."
    ),
)


@pytest.mark.parametrize("old", OLD)
@pytest.mark.parametrize("new", NEW)
def test_a_paragraph_about_something_else_closes_no_part(old: str, new: str, tmp_path: Path) -> None:
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.add(old)
        memory.add(new)
        assert {one.content for one in memory.list()} == {old, new}


def test_a_paragraph_about_one_part_still_closes_it(tmp_path: Path) -> None:
    old = (
        "I compile the firmware of the weather station with the vendor toolchain. I sign every image by hand and put "
        "the symbols on the mirror in the cellar, which takes about three hours."
    )
    new = (
        "I no longer compile the firmware of the weather station with the vendor toolchain: a container does it and "
        "puts the symbols on the mirror in the cellar every night."
    )
    with MemoryManager("mia", store=tmp_path / "m.db") as memory:
        memory.add(old)
        memory.add(new)
        assert old not in {one.content for one in memory.list()}
