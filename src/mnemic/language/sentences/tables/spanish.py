"""Patterns of Spanish statements of typed facts and the plainest preferences; values are stored in English."""

from __future__ import annotations

from mnemic.language.sentences.tables import Rule, lower, pattern
from mnemic.language.sentences.tables.values import (
    CABINS,
    CHANNELS,
    DIETS,
    FLIGHT_TIMES,
    LANGUAGES,
    SEATS,
    STOPS,
    STYLES,
    TIERS,
    ZONE,
    choice,
    name,
    one_of,
    place,
    zone,
)

_REPLIES = r"(?:respuestas|mensajes|actualizaciones|resúmenes|explicaciones|correos)"

RULES = (
    Rule(
        pattern=pattern(rf"\b(?:escrib\w{{1,4}}|respond\w{{1,4}}|contest\w{{1,4}}|habl\w{{1,4}})(?:me|"
                        rf"nos)?(?: siempre)? en (?P<v>{choice(LANGUAGES)})\b|"
                        rf"\b{_REPLIES} en (?P<w>{choice(LANGUAGES)})\b"),
        key="language", category="preference", confidence=0.95, spell=one_of(LANGUAGES),
    ),
    Rule(
        pattern=pattern(rf"\b{_REPLIES} (?:muy |más )?(?P<v>{choice(STYLES)})\b"),
        key="response_style", category="preference", spell=one_of(STYLES),
    ),
    Rule(
        pattern=pattern(rf"\b(?:usa|utiliza|prefiero)(?: el| la| los)? (?P<v>{choice(CHANNELS)}) (?:como|para)\b|"
                        rf"\b(?:avísame|contáctame|escríbeme|notifícame|avisame) (?:por|via|vía) (?:el |"
                        rf"la )?(?P<w>{choice(CHANNELS)})\b"),
        key="update_channel", category="preference", confidence=0.95, spell=one_of(CHANNELS),
    ),
    Rule(
        pattern=pattern(rf"\b(?:soy|somos) (?:un |una )?(?:cliente|usuari[oa]|cuenta)(?: de)?(?: nivel|"
                        rf" plan)? (?P<v>{choice(TIERS)})\b|"
                        rf"\b(?:tengo|tenemos) el plan (?P<w>{choice(TIERS)})\b|"
                        rf"\bsoy (?:de )?nivel (?P<x>{choice(TIERS)})\b"),
        key="declared_tier", category="identity", spell=one_of(TIERS),
    ),
    Rule(
        pattern=pattern(rf"\b(?:estoy en|mi zona horaria es|zona horaria(?: de)?|"
                        rf"vivo en) (?:la zona horaria (?:de )?)?(?P<v>{ZONE})\b"),
        key="timezone", category="preference", confidence=0.95, spell=zone,
    ),
    Rule(
        pattern=pattern(rf"\bvuelos? (?:de|por|en) (?:la |el )?(?P<v>{choice(FLIGHT_TIMES)})\b|\bvolar (?:de|"
                        rf"por) (?:la )?(?P<w>{choice(FLIGHT_TIMES)})\b"),
        key="flight_time", category="preference", spell=one_of(FLIGHT_TIMES), wish=True,
    ),
    Rule(
        pattern=pattern(rf"\basientos? (?:de|en|junto a)(?: el| la)? (?P<v>{choice(SEATS)})\b"),
        key="seat", category="preference", spell=one_of(SEATS), wish=True,
    ),
    Rule(
        pattern=pattern(rf"\bclase (?P<v>{choice(CABINS)})\b"),
        key="cabin", category="preference", spell=one_of(CABINS), wish=True,
    ),
    Rule(
        pattern=pattern(rf"\bvuelos? (?P<v>{choice(STOPS)})\b"),
        key="stops", category="preference", spell=one_of(STOPS), wish=True,
    ),
    Rule(
        pattern=pattern(r"\bhoteles (?P<v>(?:con|cerca de|en|de) [^,.;]{2,60}|[\wáéíóúñ]{3,20})"),
        key="hotel", category="preference", spell=lower, wish=True,
    ),
    Rule(
        pattern=pattern(rf"\b(?:soy(?! diab[ée]tic)|sigo una dieta|como) (?P<v>{choice(DIETS)})\b"),
        key="diet", category="preference", confidence=0.95, spell=one_of(DIETS),
    ),
    Rule(
        pattern=pattern(r"\bsoy (?:muy )?alérgic[oa] (?:a la|a los|a las|al|a) (?P<v>[^.;!?]{2,80})|"
                        r"\btengo alergia (?:a la|a los|a las|al|a) (?P<w>[^.;!?]{2,80})"),
        key="allergies", category="preference", confidence=0.95, many=True,
    ),
    Rule(
        pattern=pattern(r"\b(?:[Mm]e llamo|[Mm]i nombre es) (?P<v>[^\W\d_][\w'-]{0,24}(?: (?:de |del |"
                        r"la )?[A-ZÁÉÍÓÚÑ][\w'-]{1,24}){0,3})", case=True),
        key="name", category="identity", confidence=0.95, spell=name,
    ),
    Rule(
        pattern=pattern(r"\b(?:[Vv]iv(?:o|imos) en|(?:[Mm]e he|[Nn]os hemos) mudado a|[Mm]e mudé a|[Nn]os mudamos a) "
                        r"(?P<v>[A-ZÁÉÍÓÚÑ][^.;!?\n]{1,40})", case=True),
        key="home_city", category="identity", spell=place,
    ),
    Rule(
        pattern=pattern(r"\b(?:[Tt]rabajo (?:en|para)|"
                        r"(?:[Ee]mpecé|[Hh]e empezado|[Cc]omencé)(?: el \w+)? a trabajar (?:en|"
                        r"para)) (?P<v>[A-ZÁÉÍÓÚÑ][\w&.'-]{1,24}(?: [A-ZÁÉÍÓÚÑ&][\w&.'-]{0,24}){0,3})", case=True),
        key="employer", category="identity",
    ),
    Rule(
        pattern=pattern(r"\btrabajo (?:como|de) (?P<v>[\wáéíóúñ ]{3,30}?)(?= (?:en|para|y)\b|[.,;!]|$)"),
        key="job", category="identity", spell=lower,
    ),
    Rule(
        pattern=pattern(r"\bmi cumpleaños es el (?P<v>[\w ]{3,30})|\bnací el (?P<w>[\w ]{3,30})"),
        key="birthday", category="identity",
    ),
)  # fmt: skip

FREE = (
    Rule(pattern=pattern(r"\b(?:siempre|nunca|a partir de ahora|de ahora en adelante)\b.{0,20}\b(?:usa|"
                         r"escrib\w{1,4}|respond\w{1,4}|envía|incluye|pregunta|avis\w{1,4}|dime|llám\w{1,4})\b"),
         category="instruction", confidence=0.85),
    Rule(pattern=pattern(r"\b(?:no )?me (?:gustan?|encantan?|molestan?)\b|\b(?:prefiero|odio|detesto|adoro|"
                         r"no (?:como|bebo|fumo)|evito)\b|\bmi \w{3,15} favorit[oa]\b"),
         category="preference", confidence=0.85),
    Rule(pattern=pattern(r"\b(?:mi|mis) (?:mujer|esposa|marido|esposo|pareja|novi[oa]|madre|padre|herman[oa]s?|"
                         r"hij[oa]s?|abuel[oa]s?|perr[oa]s?|gat[oa]s?|jef[ea]|amig[oa]s?)\b|"
                         r"\btengo (?:un|una|dos|tres|\d) (?:hij[oa]s?|perr[oa]s?|gat[oa]s?|herman[oa]s?)\b|"
                         r"\bestoy (?:casad[oa]|divorciad[oa])\b"),
         category="relation", confidence=0.85),
    Rule(pattern=pattern(r"\b(?:hablo|estudio|estudié|nací|crecí|toco|soy de)\b"), category="identity", confidence=0.8),
)  # fmt: skip
