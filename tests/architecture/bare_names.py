"""List functions that are named by a bare participle, adverb or preposition: `python -m tests.architecture.bare_names`.

A function is a verb with an object or a noun of the field. This is a list to look at: it fails nothing.
"""

from __future__ import annotations

import re

from tests.architecture.sources import ROOT, modules

BARE = re.compile(
    r"^_?(?:of|in|at|by|to|for|from|near|nearest|with|within|without|beside|behind|around|among|apart|alone|anew|akin|"
    r"already|both|one|[a-z]+ed|said|told|known|shown|given|kept|held|made|found|begun|written|sent|left|met|put)$"
)


def main() -> None:
    """Print each such function and their share."""
    functions = [(module, function) for module in modules() for function in module.functions()]
    found = [(module, function) for module, function in functions if BARE.match(function.name)]
    for module, function in found:
        print(f"{module.path.relative_to(ROOT)}:{function.lineno} {function.name}")
    print(f"{len(found)} of {len(functions)} functions ({len(found) / len(functions):.1%})")


if __name__ == "__main__":
    main()
