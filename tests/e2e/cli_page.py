"""Every command with its options, as the documentation site shows them below docs/cli.md."""

from __future__ import annotations

import re
from collections import Counter

import click

from mnemic.cli import COMMANDS, GROUPS, cli
from mnemic.cli.lazy_loading import common_options

CONTEXT = click.Context(cli, info_name="mnemic")
OFTEN = 2
"""An option that so many commands have in the same words is explained once, above them."""
ZONE = " With its zone, or a date: its beginning in UTC."
"""Said once, at the head of the page."""


def rendered() -> str:
    """The commands in the order of the help, as Markdown."""
    commands = {name: command for name in COMMANDS if (command := cli.get_command(CONTEXT, name)) is not None}
    own = {name: _own_options(command) for name, command in commands.items()}
    seen = Counter(option for options in own.values() for option in options)
    often = {option for option, times in seen.items() if times >= OFTEN}
    everywhere = [_record(option) for option in common_options(environment=False)]
    parts = ["## Options that several commands have", _listed([*everywhere, *sorted(often)])]
    for title, names in GROUPS.items():
        parts += [f"## {title}"] + [_section(name, commands[name], own[name], often) for name in names if name in own]
    return "\n\n".join(parts) + "\n"


def _section(name: str, command: click.Command, options: list[tuple[str, str]], often: set[tuple[str, str]]) -> str:
    words = [word for word in command.collect_usage_pieces(click.Context(command)) if word != "[OPTIONS]"]
    parts = [" ".join([f"### mnemic {name}", *(f"`{word}`" for word in words)]), _prose(command)]
    shared = [flag.split()[0] for flag, text in options if (flag, text) in often]
    if special := [option for option in options if option not in often]:
        parts.append(_listed(special))
    if shared:
        parts.append("Also " + ", ".join(f"`{flag.rstrip(',')}`" for flag in shared) + ".")
    if isinstance(command, click.Group):
        rows = [
            (child, click.Context(sub).command.get_short_help_str(200))
            for child, sub in sorted(command.commands.items())
        ]
        parts.append(_listed(rows))
    return "\n\n".join(part for part in parts if part)


def _prose(command: click.Command) -> str:
    """Return the description without its examples, which `--help` shows."""
    paragraphs = re.split(r"\n\s*\n", (command.help or "").strip())
    plain = [" ".join(text.split()) for text in paragraphs if not text.lstrip(" \n").startswith("\b")]
    return " ".join(text.replace("<", "&lt;") for text in plain)


def _own_options(command: click.Command) -> list[tuple[str, str]]:
    shared = {option.name for option in common_options(environment=False)} | {"help"}
    return [_record(param) for param in command.params if isinstance(param, click.Option) and param.name not in shared]


def _record(option: click.Parameter) -> tuple[str, str]:
    assert isinstance(option, click.Option)
    record = option.get_help_record(CONTEXT)
    assert record is not None, option.name
    flags, text = record
    return flags.replace(" RANGE", ""), " ".join(text.split())


def _listed(rows: list[tuple[str, str]]) -> str:
    return "\n".join(f"- `{first}`: {second.replace(ZONE, '')}" for first, second in dict.fromkeys(rows))
