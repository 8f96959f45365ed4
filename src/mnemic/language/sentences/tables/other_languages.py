"""Plain statements in eight more languages: decisions, promises, preferences and opinions.

German, French, Italian, Portuguese, Russian, Chinese, Hindi and Korean, and the Spanish ones that `spanish` lacks. A
statement is stored in the user's words, under a category; typed facts and keys exist in English and Spanish only.
"""

from __future__ import annotations

from mnemic.language.sentences.tables import Rule, pattern
from mnemic.language.text.pattern import Pattern


def _words(*spaced: str, joined: tuple[str, ...]) -> Pattern:
    """Return a pattern of whole words, and of parts of words for scripts and languages that join words."""
    return pattern(rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)|{'|'.join(joined)}")


def _own(verbs: str) -> str:
    """Return a pattern of a Chinese verb after "I" or "we" or without a subject: not "you like" or "she decided"."""
    return rf"(?:我[^你您他她它，。；]{{0,20}}?|(?:^|[，。；])[^你您他她它，。；]{{0,40}}?)(?:{verbs})"


DECIDED = _words(
    r"(?:habe|haben|hat) .{0,120}?(?:entschieden|beschlossen)|(?:habe|haben) (?:mich|uns) entschieden",
    r"(?:ai|avons|a) (?:finalement )?décidé|(?:ho|abbiamo|ha) (?:finalmente )?deciso",
    r"decid[ií]|decidimos|decidiu|(?:he|hemos|ha) decidido|решил[аи]?|решено",
    joined=(_own("决定"), r"(?:फैसला|निर्णय|तय) (?:किया|लिया)", r"결정(?:했|하였|합니다)|기로 (?:했|하였|확정|결정)"),
)
PROMISED = _words(
    r"(?:habe|haben|hat) .{0,120}?(?:versprochen|zugesagt)|ich verspreche",
    r"(?:ai|avons|a) promis|je (?:m'engage|promets)|(?:ho|abbiamo|ha) promesso|mi impegno",
    r"promet[ií]|prometemos|prometimos|comprometi|me (?:comprometo|comprometí)|(?:по)?обещал[аи]?",
    joined=(
        _own("答应|承诺"),
        r"(?:वादा|वचन) (?:किया|दिया)",
        r"약속(?:했|하였|합니다|드)",
    ),
)
PREFERS = _words(
    r"ich (?:bevorzuge|mag|liebe|hasse)|ich .{2,60}?(?:am liebsten|lieber)|bevorzugt|zieht .{2,80}? vor",
    r"je (?:préfère|déteste|adore)|j'(?:aime|adore|évite)|préfère|je n'aime pas",
    r"preferisc[oe]|odio|adoro|(?:non )?mi piac(?:e|ciono)",
    r"prefir[oe]|prefere|prefiere|(?:eu|não) gosto de|detesto|odeio",
    r"предпочита(?:ю|ет|ем)|мне нравится|(?:не|я) люблю|терпеть не могу",
    joined=(
        _own("喜欢|偏好|讨厌|宁愿"),
        r"पसंद (?:है|हैं|कर)|नापसंद|प्राथमिकता दे",
        r"(?:선호|좋아|싫어)(?:한다|합니다|해)|기를 원(?:한다|합니다)",
    ),
)
THINKS = _words(
    r"ich (?:finde|denke|glaube|meine)|meiner Meinung nach|je (?:pense|crois|trouve) que|à mon avis",
    r"(?:penso|credo|ritengo) che|secondo me|(?:eu )?(?:acho|acredito|penso) que|na minha opinião",
    r"(?:creo|pienso|opino) que|en mi opinión|я (?:думаю|считаю)|по-моему|на мой взгляд",
    joined=(
        r"我(?:认为|觉得)|在我看来",
        r"मुझे लगता है|मेरा मानना है|मेरी राय",
        r"(?:내|제) (?:생각|의견)|고 (?:생각(?:한다|합니다|해)|봐|본다)",
    ),
)
LIVES = _words(
    r"ich (?:wohne|lebe|arbeite|studiere|heiße)|meine? (?:Frau|Mann|Tochter|Sohn|Mutter|Vater|Schwester|Bruder)",
    r"je (?:vis|travaille|m'appelle)|j'habite|m(?:a|on) (?:femme|mari|fille|fils|mère|père|sœur|frère|chien|chat)",
    r"(?:abito|vivo|lavoro) (?:a|in|per|come)|mi chiamo|mi[ao] (?:moglie|marito|figli[ao]|madre|padre|sorella)",
    r"(?:moro|trabalho) (?:em|na|no|como)|meu nome é|minha (?:esposa|filha|mãe|irmã)|meu (?:marido|filho|pai|irmão)",
    r"я (?:живу|работаю)|меня зовут|моя (?:жена|дочь|мама|сестра)|мой (?:муж|сын|отец|брат)",
    joined=(
        r"我(?:住在|叫|的(?:妻子|丈夫|女儿|儿子|妈妈|爸爸))",
        r"मैं .{2,40}? में (?:रहता|रहती|काम)|मेरा नाम|मेरी (?:पत्नी|बेटी)|मेरे पति",
        r"에 (?:살고|산다|삽니다)|에서 일(?:하|한)|(?:제|내) 이름은|(?:내|제|우리) (?:아내|남편|딸|아들|어머니|아버지)",
    ),
)
FREE = (
    Rule(pattern=DECIDED, category="decision", confidence=0.75),
    Rule(pattern=PROMISED, category="commitment", confidence=0.75),
    Rule(pattern=PREFERS, category="preference", confidence=0.8),
    Rule(pattern=LIVES, category="identity", confidence=0.75),
    Rule(pattern=THINKS, category="opinion", confidence=0.6),
)

REPORTED = _words(
    r"(?:er|sie|meine? \w{2,20}) (?:sagte?|meinte)|(?:il|elle|m(?:on|a) \w{2,20}) (?:a )?dit",
    r"(?:lui|lei|mi[oa] \w{2,20}) (?:dice|ha detto)|(?:ele|ela|meu \w{2,20}|minha \w{2,20}) (?:diz|disse)",
    r"(?:pare|si dice|dicono) che(?= (?-i:[A-Z]))|(?:dicen|dizem) que(?= (?-i:[A-Z]))",
    r"(?:он|она) (?:говорит|сказала?)",
    joined=(
        r"[他她]说",
        r"ने कहा",
        r"[라다]고 (?:말했|하더|합니다|했다|한다)|그(?:녀|들)?[는은이가] .{2,120}?고 (?:생각|본다|봐)",
    ),
)
"""Matches another person's words and thoughts."""
