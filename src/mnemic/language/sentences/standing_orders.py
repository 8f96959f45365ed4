"""Standing orders for an occasion: "If I ask for a recipe, keep it vegan", "When you suggest films, leave out horror".

The occasion is a request to the assistant, a text shown or reported to it, or an act of the assistant; an order
follows. Neither depends on the topic.
"""

from __future__ import annotations

from mnemic.language.text.pattern import Pattern

_OTHERS = (
    r"(?! (?:him|her|them|someone|somebody|people|(?:my|our|the) (?!question|code|text|draft)\w+ (?:for|to|if)\b)\b)"
)
_BEFORE = (
    r"(?:(?:please|then|just|always|only|never|don't|do not|bitte|dann|immer|nur|alors|toujours|s'il te plaît|siempre"
    r"|por favor|entonces|sempre|per favore|allora|então|altijd|dan|alsjeblieft),? ){0,3}"
)
_ENGLISH = (
    r"(?:when(?:ever)?|if|each time|every time|any time|anytime) "
    rf"(?:(?:i|we)(?:'m| am| ever| next)? (?:ask|request|inquire|want|search|look|send|paste|share|upload|post|show"
    rf"|give"
    rf"|mention|bring up|talk|speak|write|type|forward|attach|need|asking|writing|talking){_OTHERS}\b"
    r"|you(?:'re| are| ever)? (?:suggest|recommend|propose|answer|reply|respond|write|explain|summari[sz]e|list|give"
    r"|find|book|draft|translate|show|send|make|generate|create|plan|format|quote|cite|use|look|pick|choose|help)\w*\b)"
    r"(?! (?:so|no|yes)\b)[^.!?]{1,90}, "
    rf"{_BEFORE}"
    r"(?!(?:i(?!'d (?:like|prefer)\b| (?:want|prefer|need|expect|would like)\b)|you (?!should|must|can|need)|he|she"
    r"|it|we|they"
    r"|that|this|these|those|there|the|an?|my|your|his|her|our|their|its|who|what|which|why|how|where|nobody|everybody"
    r"|everyone|people|would|will|can|could|do|does|did|is|are|was|were|am|has|had|wish|promise|let|not?|yes|i'm|i'll"
    r"|i'd|you'd|you'll|it's|he's|she's|they're|give it|buy|pay)\b)[a-z][\w']*(?<!ed)(?<!ly)\b"
)
_GERMAN = (
    r"(?:immer )?(?:wenn|falls|sobald|jedes mal,? wenn) (?:ich [^.!?,]{0,80}\b(?:frage|bitte|schicke|sende|schreibe"
    r"|einfüge|teile|erwähne|zeige|poste|suche|will|möchte|brauche|hochlade|spreche|rede)"
    r"|du [^.!?,]{0,80}\b(?:vorschlägst|empfiehlst|antwortest|schreibst|erklärst|zusammenfasst|planst|suchst|übersetzt"
    r"|buchst|findest|zitierst|formatierst)), "
    rf"{_BEFORE}(?!(?:ist|hat|wird|kann|muss|soll|will|mag|darf|war|kam|bin|habe|werde|würde|möchte|gehe|mache|weiß"
    rf"|dann"
    r"|das|der|die|es|er|sie|wir|ich|man|du)\b)"
    r"(?:[a-zäöüß]+(?<!t)|antworte|achte|beachte|halt|rat|biete|bitte|arbeite)\b(?! (?:ich|er|wir|man|du|mein\w*)\b)"
)
_FRENCH = (
    r"(?:quand|si|chaque fois que|lorsque|à chaque fois que) (?:(?:je|nous) (?:(?:te|vous) )?(?:demand|envoi|écri"
    r"|coll|mentionn"
    r"|parl|cherch|veu|montr|partag|pose)\w*|(?:tu|vous) (?:propos|suggèr|suggér|recommand|répond|écri|expliqu|résum"
    r"|tradui|cherch)\w*)[^.!?,]{1,80}, "
    rf"{_BEFORE}(?!(?:il|elle|on|je|j'\w+|tu|vous|nous|ils|elles|le|la|les|un|une|des|mon|ma|mes|ce|c'est|ça|cela"
    rf"|personne"
    r"|alors|ne me)\b)[a-zéèêàç']+(?:-\w+)?"
)
_SPANISH = (
    r"(?:si|cuando|cada vez que|siempre que) (?:(?:te |le )?(?:pido|pregunto|envío|mando|escribo|pego|menciono|hablo"
    r"|busco|muestro|comparto|paso|pida|pregunte|mande|escriba)|(?:me )?(?:sugieres|recomiendas|propones|respondes"
    r"|escribes|explicas|resumes))\b[^.!?,]{1,80}, "
    rf"{_BEFORE}(?!(?:él|ella|yo|me|el|la|los|las|un|una|mi|mis|ellos|nadie|se|nos|ya|es|está|tengo|voy)\b)[a-záéíóúñ]+"
)
_ITALIAN = (
    r"(?:se|quando|ogni volta che) (?:(?:ti |le )?(?:chiedo|mando|invio|scrivo|incollo|menziono|parlo|cerco|mostro"
    r"|domando|passo)|(?:mi )?(?:suggerisci|consigli|proponi|rispondi|scrivi|spieghi|riassumi))\b[^.!?,]{1,80}, "
    rf"{_BEFORE}(?!(?:lui|lei|io|mi|il|la|i|le|un|una|mio|mia|nessuno|si|ci|è|sono|ho|vado)\b)[a-zàèéìòù]+"
)
_PORTUGUESE = (
    r"(?:se|quando|sempre que|cada vez que) (?:(?:eu )?(?:te |lhe )?(?:pedir|peço|perguntar|pergunto|enviar|envio"
    r"|mandar"
    r"|mando|escrever|escrevo|colar|colo|mencionar|menciono|falar|falo|procurar|mostrar)|(?:me )?(?:sugerir\w*|sugeres"
    r"|recomend\w+|propu\w+|respond\w+|escrev\w+|explic\w+|resum\w+))\b[^.!?,]{1,80}, "
    rf"{_BEFORE}(?!(?:ele|ela|eu|me|o|a|os|as|um|uma|meu|minha|ninguém|se|é|está|tenho|vou|já)\b)[a-záâãéêíóôõúç-]+"
)
_DUTCH = (
    r"(?:als|wanneer|elke keer (?:als|dat)) (?:ik (?:je |u )?[^.!?,]{0,80}\b(?:vraag|stuur|schrijf|plak|noem|deel"
    r"|zoek|wil"
    r"|praat|toon|upload)|je [^.!?,]{0,80}\b(?:voorstelt|aanraadt|antwoordt|schrijft|uitlegt|samenvat|plant"
    r"|vertaalt)), "
    rf"{_BEFORE}(?!(?:is|was|kan|moet|wil|mag|ga|heb|ben|dan|hij|zij|ze|wij|we|ik|men|het|de|een|er)\b)"
    r"(?:[a-z]+(?<!t)|let|zet|laat|sluit)\b(?! (?:ik|hij|wij|we|men|mijn)\b)"
)
_ORDER = Pattern(
    rf"(?i)\A\W{{0,3}}(?:(?:please|also|and|bitte|por favor|per favore|oh|hey),? )?"
    rf"(?:{_ENGLISH}|{_GERMAN}|{_FRENCH}|{_SPANISH}|{_ITALIAN}|{_PORTUGUESE}|{_DUTCH})"
)


def is_standing_order(sentence: str) -> bool:
    """Return True if a sentence gives the assistant an order for every request or shown text of a kind."""
    return not sentence.rstrip().endswith("?") and _ORDER.match(sentence) is not None
