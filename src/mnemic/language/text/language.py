"""Language detection for search: the stemmer of a text, and its stop words.

A script with one stemmer decides alone; for Latin letters the most frequent words of each language decide. English and
undetected languages are None: they are stemmed as English.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType

import Stemmer
from apsw.unicode import word_iter

from mnemic.language.text.pattern import Pattern

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
)
"""Scripts that do not separate words, or build them from many parts, as the inside of a pattern's brackets."""

_READ = 1_000
"""Maximum number of characters that are parsed."""
_FEW_WORDS = 8
"""Maximum words of a text for which one common word is enough."""
_LONGEST_STEM = 64
_UNSPACED_START = Pattern(f"[{UNSPACED}]")
_local = threading.local()
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_SCRIPTS: Mapping[str, Pattern] = MappingProxyType(
    {
        "russian": Pattern("[\u0400-\u04ff]{3}"),
        "greek": Pattern("[\u0370-\u03ff\u1f00-\u1fff]{3}"),
        "arabic": Pattern("[\u0600-\u06ff]{3}"),
        "hindi": Pattern("[\u0900-\u097f]{2}"),
        "tamil": Pattern("[\u0b80-\u0bff]{2}"),
        "armenian": Pattern("[\u0530-\u058f]{3}"),
    }
)
_ENGLISH = "english"
_COMMON: Mapping[str, str] = MappingProxyType(
    {
        _ENGLISH: "the a an is are was were be been i my me we our you your he she it they them his her their this"
        " that these those to of on at for with by from and or but if so not no what which who when where"
        " why how will would can could should do does did have has had there here about as",
        "german": "der die das den dem des ein eine einen einem einer eines ich du er sie es wir ihr mich mir mein"
        " meine meinen meinem meiner dein deine sein seine seinen unser unsere ihre ihren ist sind war waren"
        " bin wird werden wurde hat habe haben hatte nicht kein keine und oder aber auch noch nur mit von"
        " vom zu zum zur für auf aus bei beim nach über unter vor wegen was wer wie wo wann warum welche"
        " welcher welches welchem dass wenn als im am soll sollen muss man",
        "french": "le la les un une des du au aux je j tu il elle nous vous ils elles me te se mon ma mes ton ta tes"
        " son sa ses notre nos votre vos leur leurs est sont était suis avons ont ai a pas ne et ou mais que"
        " qui quoi quel quelle quels quelles dans sur avec pour par de en où quand comment pourquoi ce cet"
        " cette ces c'est qu'est faut",
        "spanish": "el la los las un una unos unas yo tú él ella nosotros ellos me te se mi mis tu tus su sus nuestro"
        " nuestra es son era soy está están estoy fue ha he han hay no y o pero que quién qué cuál cuándo"
        " cómo dónde cuánto cuánta por para con sin en de del al lo le les este esta estos estas muy más ya",
        "italian": "il lo la i gli le un uno una io tu lui lei noi voi loro mi ti si mio mia miei mie tuo tua suo sua"
        " nostro nostra è sono era ho hai ha abbiamo hanno non e o ma che chi cosa quale quali quando come"
        " dove perché di del della dei delle da dal in nel nella con per su sul al alla questo questa più",
        "portuguese": "o a os as um uma eu tu ele ela nós eles me te se meu minha meus minhas teu tua seu sua"
        " nosso nossa é são era sou está estão foi tem tenho não e ou mas que quem qual quais quando como onde porquê"
        " por para com sem em no na nos nas de do da dos das ao à este esta isso mais já você vocês",
        "dutch": "de het een ik jij je hij zij ze wij we jullie mij mijn jouw zijn haar ons onze hun is was waren"
        " ben bent heb heeft hebben had niet geen en of maar ook nog met van voor op aan bij naar over uit"
        " door te in wat wie hoe waar wanneer waarom welke dat die dit deze als er",
        "swedish": "en ett jag du han hon vi ni de mig dig min mitt mina din ditt dina sin sitt är var har hade inte"
        " och eller men också med av för på från till vid om som att vad vem hur var när varför vilken"
        " vilket det den detta",
        "danish": "en et jeg du han hun vi de mig dig min mit mine din dit dine sin sit er var har havde ikke og"
        " eller men også med af for på fra til ved om som at hvad hvem hvordan hvor hvornår hvorfor hvilken"
        " det den dette",
        "norwegian": "en ei et jeg du han hun vi dere de meg deg min mitt mine din ditt dine sin sitt er var har hadde"
        " ikke og eller men også med av for på fra til ved om som at hva hvem hvordan hvor når hvorfor"
        " hvilken det den dette",
        "finnish": "minä sinä hän me te he minun sinun hänen on oli olen ovat ei en ja tai mutta myös että kuka mikä"
        " mitä missä milloin miksi miten kun jos se tämä nämä",
        "polish": "ja ty on ona my wy oni mnie mi mój moja moje twój jest są był była jestem nie i lub ale też z ze w"
        " we na do od dla po przez o co kto jak gdzie kiedy dlaczego który która że się to ten ta",
        "czech": "já ty on ona my vy oni mě mi můj moje tvůj je jsou byl byla jsem není a nebo ale také s se v ve na"
        " do od pro po o co kdo jak kde kdy proč který která že to ten ta",
        "turkish": "ben sen o biz siz onlar benim senin onun bizim bir bu şu ve veya ama da de ile için mi mı ne kim"
        " nasıl nerede nezaman neden hangi değil var yok çok daha",
        "romanian": "eu tu el ea noi voi ei mie îmi meu mea mei mele este sunt era am ai are nu și sau dar cu din de la"
        " în pe pentru ce cine cum unde când care că un o",
        "hungarian": "én te ő mi ti ők a az egy van vannak volt nem és vagy de is hogy ki mit mi hol mikor miért melyik"
        " ez",
        "indonesian": "saya aku kamu dia kami kita mereka adalah ini itu dan atau tetapi juga dengan dari untuk di ke"
        " pada yang apa siapa bagaimana mana kapan mengapa tidak bukan sudah akan",
        "catalan": "el la els les un una jo tu ell ella nosaltres em et es meu meva seu seva és són era sóc està no i"
        " o però que qui què quin quina quan com on per amb sense en de del al aquest aquesta més",
    }
)
"""Most frequent words of each language, in lower case."""
_WORDS: Mapping[str, frozenset[str]] = MappingProxyType({name: frozenset(one.split()) for name, one in _COMMON.items()})
_OF_WORD: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        word: tuple(name for name, words in _WORDS.items() if word in words)
        for word in frozenset().union(*_WORDS.values())
    }
)


@lru_cache(maxsize=4096)
def language_of(text: str) -> str | None:
    """Return the language of `text` by the name of its Snowball stemmer; None for English, for languages without a
    stemmer, and for texts that are too short to decide.
    """
    text = text[:_READ]
    if not text.isascii():
        for name, script in _SCRIPTS.items():
            if script.search(text):
                return name
    words = [word.lower() for word in _WORD.findall(text)]
    counts: dict[str, int] = {}
    for word in words:
        for name in _OF_WORD.get(word, ()):
            counts[name] = counts.get(name, 0) + 1
    if not counts:
        return None
    best = max(counts.values())
    likely = [name for name, count in counts.items() if count == best]
    if len(likely) > 1 or likely[0] == _ENGLISH or (best < 2 and len(words) > _FEW_WORDS):
        return None
    return likely[0]


def common_words(language: str) -> frozenset[str]:
    """Return the stop words of `language`; empty for some languages."""
    return _WORDS.get(language, frozenset())


def stems_of(text: str, *, known: Collection[str] = ()) -> list[str]:
    """Return the stems of the words of `text` in its language that are not yet `known`; none for English."""
    language = language_of(text)
    if language is None:
        return []
    words = [word for word in word_iter(unicodedata.normalize("NFKC", text)) if len(word) > 1 and word[0].isalpha()]
    stems = [stem_in(language, word) for word in words if not _UNSPACED_START.match(word)]
    return [stem for stem in stems if stem not in known]


@lru_cache(maxsize=8192)
def stem_in(language: str, word: str) -> str:
    """Return the stem of `word` in a language of Snowball, without accents."""
    # A stemmer must not be shared between threads.
    stemmers: dict[str, Stemmer.Stemmer] | None = getattr(_local, "stemmers", None)
    if stemmers is None:
        stemmers = _local.stemmers = {}
    if language not in stemmers:
        stemmers[language] = Stemmer.Stemmer(language, 0)
    stem = unicodedata.normalize("NFKD", stemmers[language].stemWord(word.casefold()))
    return "".join(letter for letter in stem if not unicodedata.combining(letter)).casefold()[:_LONGEST_STEM]


def in_latin_letters(text: str) -> bool:
    """Return True if at least half of the letters of `text` are Latin, or it has none."""
    text = text[:_READ]
    if text.isascii():
        return True
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(letter < "\u0250" for letter in letters) >= len(letters)


def is_foreign(text: str) -> bool:
    """Return True for a text in another language than English."""
    return language_of(text) is not None or not in_latin_letters(text)
