"""What a text shows at a glance."""

from __future__ import annotations

from mnemic.language.text.cues import Cues, read_cues


def test_cues_of_a_message() -> None:
    assert read_cues("I saw the lake last year.") == Cues(words=6, asking=0.0, oneself=True, timed=True)
    assert read_cues("How are you?") == Cues(words=3, asking=1.0)
    assert read_cues("Nice. How are you?") == Cues(words=4, asking=0.75)
    assert read_cues("Did I tell you?") == Cues(words=4, oneself=True)
    assert read_cues("") == Cues()
