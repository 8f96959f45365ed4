"""These run where spaCy is (`make test-ner`): it is too large for everybody's environment."""

from __future__ import annotations

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("spacy") else ["test_*.py"]
