"""init: a file of settings, written by a short dialogue."""

from __future__ import annotations

import os
from pathlib import Path

import click

from mnemic.cli.lazy_loading import Command
from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import Exit, at_terminal, complain, note
from mnemic.errors import InvalidConfig, InvalidInput

DEFAULT_FILE = "mnemic.env"


@click.command("init", cls=Command)
@click.option("--output", metavar="FILE", default=DEFAULT_FILE, show_default=True, help="The file to write.")
@click.option("--model", metavar="NAME", help="The language model; omit it to use none.")
@click.option(
    "--model-url", metavar="URL", help="Its server, if that is not OpenAI's: any that speaks OpenAI's protocol."
)
@click.option("--key-file", metavar="FILE", help="A file with the key for that server.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.pass_obj
def init_(
    given: Given, output: str, model: str | None, model_url: str | None, key_file: str | None, force: bool
) -> int:
    r"""Write a file of settings: where memories are kept, and which language model is used, if any.

    \b
      mnemic init
      export MNEMIC_ENV_FILE=$PWD/mnemic.env

    At a terminal it asks for every omitted option, and for the key if its file does not exist yet; elsewhere it uses
    the defaults. Only you can read the files. API keys are not written into the settings.
    """
    path = Path(output)
    if path.exists() and not force:
        complain("invalid_input:output:exists", f"{path.name} is there already; --force replaces it")
        return Exit.INPUT
    store = given.store
    if at_terminal():
        store = store or click.prompt(
            "Where are memories kept (a file, or postgresql://...)", default="mnemic.db", err=True
        )
        if model is None and model_url is None:
            model = click.prompt("Which language model (empty: none)", default="", show_default=False, err=True) or None
            if model is not None:
                model_url = click.prompt("Its server (empty: OpenAI)", default="", show_default=False, err=True) or None
                question = "A file with its key (empty: none)"
                key_file = key_file or click.prompt(question, default="", show_default=False, err=True) or None
    if key_file is not None:
        _require_key(Path(key_file).expanduser())
    settings = {
        "MNEMIC_STORE": _absolute(store or "mnemic.db"),
        "MNEMIC_MODEL": model,
        "MNEMIC_MODEL_URL": model_url,
        "MNEMIC_API_KEY_FILE": None if key_file is None else str(Path(key_file).expanduser().resolve()),
    }
    lines = (f"{name}={_quote_value(value)}\n" for name, value in settings.items() if value is not None)
    _write(path, "".join(lines), "output", force=force)
    fields = {"file": str(path.resolve()), **settings}
    given.show(fields, lambda: f"written  {path}\n\n  export MNEMIC_ENV_FILE={path.resolve()}\n  mnemic doctor")
    if model is not None and model_url is None and key_file is None and "OPENAI_API_KEY" not in os.environ:
        note("OPENAI_API_KEY is not set: the model cannot be asked without a key")
    return Exit.OK


def _absolute(store: str) -> str:
    """Return the place of the store so that it is the same from every folder."""
    return store if ":" in store else str(Path(store).expanduser().resolve())


def _require_key(path: Path) -> None:
    """Ask for the key at a terminal if its file does not exist yet, and write it there. Raises InvalidInput
    (`key_file:missing`) elsewhere, InvalidConfig (`key_file`) where it cannot be written.
    """
    if path.exists():
        return
    if not at_terminal():
        hint = f"there is no file {path.name}: write the key into it first (umask 077; cat > {path.name})"
        raise InvalidInput("key_file:missing", hint=hint)
    key = click.prompt(f"There is no file {path.name}. The key to write into it", hide_input=True, err=True)
    _write(path, f"{key.strip()}\n", "key_file", force=False)


def _write(path: Path, text: str, name: str, *, force: bool) -> None:
    """Write a file for its owner alone. Raises InvalidConfig (`invalid_config:<name>`) where it cannot be made."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if force else os.O_EXCL)
    try:
        with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(text)
    except OSError as error:
        raise InvalidConfig(name, hint=error.strerror) from None


def _quote_value(value: str) -> str:
    """Return `value` as a file of variables spells it: in single quotes, with quotes and backslashes escaped."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
