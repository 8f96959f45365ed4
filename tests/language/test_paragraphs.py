"""Two paragraphs about different things: whatever word of one turns or ends something, the other stays."""

from __future__ import annotations

import pytest

from mnemic.language.changes.change_classifier import judge
from mnemic.language.frames.statement_frame import Frame

OLD = """Lucía prefiere los informes de ventas los lunes por la mañana, no los viernes por la tarde, porque entonces
revisa con calma los números de la semana y prepara las preguntas para la reunión del equipo comercial de
Valencia.|
Prometí enviar a Marta el calendario de poda de los manzanos antes del fin de semana; organiza el trabajo de
los jardineros con él y necesita las fechas exactas de cada parcela del huerto viejo.|
My aunt keeps bees behind the old mill and sells the honey on Saturdays at the market by the river, together
with candles that her neighbour pours in a shed full of moulds and copper kettles.""".replace("\n", " ").split("| ")
NEW = """Elegimos el árbol B en lugar de la lista con saltos para el índice nuevo del almacén, ya que casi todas las
cargas son lecturas y la copia en escritura conserva mejor la memoria intermedia del disco.|
Ya no usamos fertilizantes sintéticos: cambiamos por completo a compost y a una rotación con trébol, y medimos
cada otoño el nitrógeno que queda en la tierra de los bancales altos.|
We no longer compile the driver with the vendor toolchain; instead the nightly build takes a container image,
signs every artefact and publishes symbols for the debugger on the internal mirror.""".replace("\n", " ").split("| ")


@pytest.mark.parametrize("old", OLD)
@pytest.mark.parametrize("new", NEW)
@pytest.mark.parametrize("cosine", [0.3, 0.5, 0.6])
def test_a_paragraph_about_something_else_closes_nothing(old: str, new: str, cosine: float) -> None:
    assert judge(Frame(old), Frame(new), cosine, among=5) is None


def test_a_paragraph_about_the_same_thing_still_does() -> None:
    old = (
        "We compile the driver with the vendor toolchain every night, sign every artefact by hand and publish symbols "
        "for the debugger on the internal mirror, which takes about three hours."
    )
    new = (
        "We no longer compile the driver with the vendor toolchain every night: a container image does it, signs every "
        "artefact and publishes the symbols for the debugger on the internal mirror."
    )
    assert judge(Frame(old), Frame(new), 0.8) is not None
