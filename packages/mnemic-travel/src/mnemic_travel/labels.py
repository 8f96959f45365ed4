"""Labels in confirmations, in the languages they are written in."""

from __future__ import annotations

import re


def _any(*names: str) -> str:
    return "|".join(sorted((re.escape(name).replace(r"\ ", r"[ \-]") for name in names), key=len, reverse=True))


def _label(*names: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w])(?:{_any(*names)})(?![\w])", re.IGNORECASE)


DEPARTURE = _label(
    "departure", "departures", "departing", "departs", "depart", "dep", "dep.", "from", "origin", "leaving",
    "outbound from",
    "abflug", "abfahrt", "von", "ab", "abreise", "départ", "depart de",
    "de", "au départ de", "origine", "salida", "desde",
    "origen", "partenza", "da", "parte", "vertrek", "van", "vertrekt", "avgång", "avresa", "från", "avgang", "avreise",
    "fra", "afgang", "lähtö", "lähtee", "partida", "saída", "odlot", "wylot", "odjezd", "z", "sortida", "出発",
)  # fmt: skip
ARRIVAL = _label(
    "arrival", "arrivals", "arriving", "arrives", "arrive", "arr", "arr.", "to", "destination", "going to",
    "ankunft", "nach", "an", "ziel", "zielort", "arrivée", "arrivee", "à", "vers", "llegada", "hasta", "a", "destino",
    "arrivo", "arriva", "per", "aankomst", "naar", "ankomst", "till", "til", "saapuminen", "saapuu", "tulo", "chegada",
    "para", "przylot", "przyjazd", "příjezd", "do", "arribada", "到着",
)  # fmt: skip
FLIGHT = _label(
    "flight", "flight number", "flight no", "flight no.", "flt", "flug", "flugnummer", "flugnr", "vol", "n° de vol",
    "numéro de vol", "vuelo", "volo", "voo", "vlucht", "vluchtnummer", "flyg", "flygnummer", "fly", "flynummer",
    "lento",
    "lot", "nr lotu", "let", "便名",
)  # fmt: skip
NOT_THE_FLIGHT = re.compile(
    r"operated\s+by|operating|codeshare|code share|durchgef[üu]hrt|ausgef[üu]hrt|op[ée]r[ée]|operado|operato|"
    r"uitgevoerd|"
    r"equipment|aircraft|fluggerät|flugzeug|appareil|avi[óo]n|aeromobile|airbus|boeing|embraer|bombardier|"
    r"emission|baggage|gep[äa]ck|bagage|equipaje|frequent|miles|loyalty|ticket\s*(?:number|no|nr)|ticketnummer|e-?ticket|"
    r"phone|telefon|tel\.|fax|iban|vat\b|ust",
    re.IGNORECASE,
)
NOT_A_TIME = re.compile(
    r"duration|dauer|dur[ée]e|duraci[óo]n|durata|reisetijd|reisezeit|travel time|layover|stop ?over|transfer|check-?in|"
    r"boarding|gate\s+(?:closes|opens)|einsteigen|embarque|bag drop|deadline|sp[äa]testens|printed|issued|"
    r"hours|stunden",
    re.IGNORECASE,
)
BOOKING = re.compile(
    r"(?:record\s+locator|booking\s*(?:ref(?:erence)?|code|number|no|nr|id)|reservation\s*(?:code|number|ref(?:erence)?|no)|"
    r"confirmation\s*(?:code|number|no)|(?:airline|flight|e-?ticket)\s+(?:booking\s+)?reference|\bPNR\b|"
    r"buchungs(?:code|nummer|nr|referenz|-?nr)|buchungs-code|reservierungs(?:code|nummer|-?nr)|auftragsnummer|"
    r"r[ée]f(?:[ée]rence)?\.?\s+(?:de\s+)?(?:votre\s+)?(?:r[ée]servation|dossier|voyage)|num[ée]ro\s+de\s+r[ée]servation|"
    r"(?:votre\s+)?(?:num[ée]ro\s+de\s+)?dossier(?:\s+voyage)?|code\s+de\s+r[ée]servation|"
    r"(?:c[óo]digo|localizador|n[úu]mero|referencia)\s*(?:de\s+(?:la\s+)?(?:reserva|confirmaci[óo]n))?|localizador|"
    r"codice\s+(?:di\s+)?(?:prenotazione|biglietto)|(?:numero|riferimento)\s+(?:di\s+)?prenotazione|"
    r"boekings(?:code|nummer|referentie)|reserveringsnummer|bokningsnummer|bokningsreferens|bestillingsnummer|"
    r"referansenummer|varausnumero|varaustunnus|numer\s+rezerwacji|kod\s+rezerwacji|rezerva[cč]n[íi]\s+k[óo]d|"
    r"k[óo]d\s+rezervace|予約番号)(?!\w)",
    re.IGNORECASE,
)
TERMINAL = re.compile(
    r"\b(?:terminal|term\.|aerogare|a[ée]rogare|terminaali|terminál)\s*[:.]?\s*(?:nr\.?\s*)?(?P<value>[A-Z]{0,2}\d{0,2}[A-Z]?)\b"
    r"(?![\w'])",
    re.IGNORECASE,
)
PLATFORM = re.compile(
    r"(?<!\w)(?:gleis|gl\.|platform|track|voie|binario|bin\.|v[íi]a|and[ée]n|sp[åo]r|spoor|peron|raide)\s*[:.]?\s*"
    r"(?:nr\.?\s*)?(?P<value>\d{1,2}\s?[A-Z]?(?:-[A-Z])?)(?!\w|:)",
    re.IGNORECASE,
)
BY_RAIL = re.compile(
    r"(?<!\w)(?:trains?|zug|z[üu]ge|bahnhof|hbf|gleis|bahncard|gare|voie|voiture|stazione|binario|carrozza|treno|estaci[óo]n|"
    r"coche|tren|platform|railway|rail|station|spoor|trein|t[åa]g|sp[åa]r)(?!\w)",
    re.IGNORECASE,
)
BY_AIR = re.compile(
    r"(?<!\w)(?:airports?|flights?|flug|fl[üu]ge|flughafen|vols?|a[ée]roport|vuelo|aeropuerto|volo|aeroporto|vlucht|luchthaven|"
    r"airlines?|terminal|boarding)(?!\w)",
    re.IGNORECASE,
)
CANCELLED = re.compile(
    r"(?:(?:reservation|booking|flight|trip|journey|ticket|order)\s+(?:has\s+been|was|is|have\s+been)\s+cancell?ed|"
    r"cancell?ation\s+(?:confirmation|confirmed)|\bstornierungsbest[äa]tigung|wurde(?:n)?\s+storniert|"
    r"a\s+[ée]t[ée]\s+annul[ée]|confirmation\s+d'annulation|ha\s+sido\s+cancelad[oa]|[èe]\s+stat[oa]\s+(?:cancellat|annullat)[oa]|"
    r"is\s+geannuleerd|status\s*:\s*cancell?ed|status\s*:\s*storniert)",
    re.IGNORECASE,
)
OTHER_LABEL = re.compile(r"^\s*[^\W\d][\w /().'-]{1,30}:(?:\s|$)")
"""A line that begins with a label of another field."""
