"""`mnemic plugin`: a new package, ready to install, and the plug-ins that are installed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template

import click

from mnemic.cli.lazy_loading import Command
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import say, say_json, table
from mnemic.errors import InvalidInput
from mnemic.plugins import list_plugins

KINDS = {
    "store": ("stores", "build", "MNEMIC_STORE=$name://anything mnemic doctor"),
    "document_store": (
        "document_stores",
        "build",
        "python -c \"from mnemic.plugins import names; print(names('document_stores'))\"",
    ),
    "session_store": ("sessions", "build", "MNEMIC_SESSIONS=$name://anything mnemic doctor"),
    "graph_store": ("graphs", "build", "MNEMIC_GRAPH=$name://anything mnemic doctor"),
    "copy": ("copies", "build", "MNEMIC_STORE='sqlite:///memory.db?copy=$name:///tmp/copy' mnemic add 'I like boats'"),
    "backup": ("backups", "Backups", "MNEMIC_STORE=$name:///path/of/memory.db mnemic backup FOLDER"),
    "embedder": ("embedders", "build", "MNEMIC_EMBEDDER=$name mnemic doctor"),
    "completer": ("completers", "build", "MNEMIC_MODEL_URL=$name://anything mnemic doctor"),
    "reranker": ("rerankers", "build", "MNEMIC_RERANKER=$name mnemic doctor"),
    "extractor": ("extractors", "build", "MNEMIC_EXTRACTOR=$name mnemic capture 'note: I like boats'"),
    "documents": ("documents", "build", "python -c \"from mnemic.plugins import names; print(names('documents'))\""),
    "detector": ("detectors", "build", '# then $entity = "redact" under [redaction.entities] of the policy file'),
    "importer": ("importers", "items", "mnemic import FILE --format $name"),
    "command": ("commands", "command", "mnemic $name"),
}
"""The kinds of plug-in: the group of the entry point, the object that it names, and how the plug-in is tried."""

_FOLDER = click.Path(file_okay=False, path_type=Path)
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


@click.command("plugin", cls=Command)
@click.argument("action", type=click.Choice(["new", "list"]))
@click.argument("name", required=False)
@click.option("--kind", type=click.Choice(list(KINDS)), help="new: what the package adds to mnemic.")
@click.option("--folder", metavar="DIR", type=_FOLDER, help="new: the folder, instead of mnemic-NAME here.")
@click.pass_obj
def plugin_(given: Given, /, action: str, name: str | None, kind: str | None, folder: Path | None) -> int:
    """Write a package that adds to mnemic by an entry point, with its test; or list the plug-ins that are installed.

    NAME is the word, or the scheme of the URL, by which the plug-in is chosen: lower-case letters, digits and
    underscores.
    """
    if action == "list":
        _list(given)
        return 0
    if name is None or kind is None:
        raise InvalidInput("plugin", hint="say it as: mnemic plugin new NAME --kind KIND")
    made = write_project(name, kind, folder)
    if given.as_json:
        say_json({"folder": str(made), "files": [path.relative_to(made).as_posix() for path in _files(made)]})
    else:
        say(f"Wrote {made}. Try it:\n\n  pip install {made}\n  pytest {made}\n  {_try_project(name, kind)}")
    return 0


def _list(given: Given) -> None:
    found = list_plugins()
    if given.as_json:
        fields = ("group", "name", "object", "package")
        say_json([dict(zip(fields, one, strict=True)) for one in found])
    else:
        say(table(found) if found else "No plug-in is installed.")


def write_project(name: str, kind: str, folder: Path | None = None) -> Path:
    """Write the package for a plug-in of one of the `KINDS` into a new folder, `mnemic-<name>` if none is given; return
    the folder.

    Raises InvalidInput (`invalid_input:name`, `invalid_input:folder` for one that has files in it).
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput("name", hint="lower-case letters, digits and single underscores, a letter first")
    made = folder or Path(f"mnemic-{name.replace('_', '-')}")
    if made.exists() and any(made.iterdir()):
        raise InvalidInput("folder", hint="it has files in it")
    package = made / "src" / f"mnemic_{name}"
    (made / "tests").mkdir(parents=True, exist_ok=True)
    package.mkdir(parents=True)
    for path, template in (
        (made / "pyproject.toml", "pyproject.toml"),
        (made / "README.md", "README.md"),
        (package / "__init__.py", "package"),
        (package / f"{kind}.py", kind),
        (made / "tests" / f"test_{kind}.py", f"test_{kind}"),
    ):
        path.write_text(_fill_template(template, name, kind), encoding="utf-8")
    (package / "py.typed").touch()
    return made


def _fill_template(template: str, name: str, kind: str) -> str:
    group, target, _ = KINDS[kind]
    text = (files(__package__) / "plugin_templates" / f"{template}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(
        name=name,
        project=f"mnemic-{name.replace('_', '-')}",
        package=f"mnemic_{name}",
        Class="".join(part.capitalize() for part in name.split("_")),
        entity=name.upper(),
        entry=name.upper() if kind == "detector" else name,
        kind=kind,
        words=kind.replace("_", " "),
        group=group,
        target=target,
        tried=_try_project(name, kind),
        version=version("mnemic"),
        needed="mnemic[structured]" if kind == "documents" else "mnemic",
    )


def _try_project(name: str, kind: str) -> str:
    return Template(KINDS[kind][2]).substitute(name=name, entity=name.upper())


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())
