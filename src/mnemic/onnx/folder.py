"""A folder with a model: `model.onnx`, `tokenizer.json`, and `mnemic.json`, which `mnemic embedder FOLDER` writes.

`mnemic.json` has the facts that the other two lack: the pooling of the tokens' states into one vector, the prefixes of
questions and of statements, and the scale of the model's cosines. The digest of the model is part of the name of its
space, so vectors of another model, or of the same one read otherwise, are never compared with these.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from mnemic.errors import InvalidConfig
from mnemic.types import VectorSpace

MODEL, TOKENISER, DESCRIPTION = "model.onnx", "tokenizer.json", "mnemic.json"
POOLINGS = ("mean", "cls", "last")
MIN_POINTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFolder:
    """A described model. `pooling`: the mean of the tokens, the first or the last of them; `scale`: see
    `mnemic.types.recall_limits`; `digest`: the SHA-256 of the model file.
    """

    path: Path
    name: str
    dimension: int
    pooling: str
    max_tokens: int
    query_prefix: str
    text_prefix: str
    digest: str
    scale: tuple[tuple[float, float], ...] = ()

    @property
    def space(self) -> VectorSpace:
        """The space of the model's vectors, by its name and the settings that determine them."""
        read_as = json.dumps([self.digest, self.pooling, self.max_tokens, self.query_prefix, self.text_prefix])
        mark = hashlib.sha256(read_as.encode()).hexdigest()[:12]
        return VectorSpace(model=f"{self.name}-{mark}", dimension=self.dimension, scale=self.scale)

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read the description that `write` wrote. Raises InvalidConfig (`invalid_config:model_folder:<file>`)."""
        require_files(path)
        hint = f"`mnemic embedder {path}` writes {DESCRIPTION}"
        try:
            data: dict[str, Any] = json.loads((path / DESCRIPTION).read_text(encoding="utf-8"))
            points = tuple((float(before), float(after)) for before, after in data.pop("scale"))
            found = cls(path=path, scale=points, **data)
        except OSError as error:
            raise InvalidConfig(f"model_folder:{DESCRIPTION}", hint=hint) from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InvalidConfig(f"model_folder:{DESCRIPTION}", hint=f"not a description of a model; {hint}") from error
        found.check()
        return found

    def check(self) -> None:
        """Check that every field can be used. Raises InvalidConfig."""
        rising = all(low < high for axis in zip(*self.scale, strict=True) for low, high in itertools.pairwise(axis))
        right = (
            all(isinstance(one, str) for one in (self.name, self.query_prefix, self.text_prefix, self.digest))
            and self.pooling in POOLINGS
            and all(type(one) is int and one > 0 for one in (self.dimension, self.max_tokens))
            and (not self.scale or (len(self.scale) >= MIN_POINTS and rising))
        )
        if not right:
            raise InvalidConfig(
                f"model_folder:{DESCRIPTION}", hint=f"pooling is one of {', '.join(POOLINGS)}; points rise"
            )

    def write(self) -> None:
        """Write the description into the folder."""
        data = {name: value for name, value in asdict(self).items() if name != "path"}
        (self.path / DESCRIPTION).write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def require_files(path: Path) -> None:
    """Require the two files of a model. Raises InvalidConfig if the folder lacks the model or its tokeniser."""
    for name in (MODEL, TOKENISER):
        if not (path / name).is_file():
            raise InvalidConfig(f"model_folder:{name}", hint=f"{path} has no {name}")


def digest_of(path: Path) -> str:
    """Return the SHA-256 of the model file of the folder."""
    with (path / MODEL).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
