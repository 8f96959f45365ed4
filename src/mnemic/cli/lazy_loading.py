"""The command group that loads its commands late, and the options that every command takes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from mnemic.cli.shared_options import Given
from mnemic.cli.terminal import run_guarded
from mnemic.errors import InvalidInput
from mnemic.plugins import is_offered, list_plugins, plugin
from mnemic.plugins.extras import missing_extra

_ENVIRONMENT = {
    "user": "MNEMIC_USER",
    "agent": "MNEMIC_AGENT",
    "session": "MNEMIC_SESSION",
    "workspace": "MNEMIC_WORKSPACE",
}


_MEANT = {
    "delete": "forget",
    "remove": "forget",
    "rm": "forget",
    "ls": "list",
    "find": "search",
    "query": "search",
    "remember": "capture",
    "show": "get",
    "get-all": "list",
}
"""Commands under the names that they have elsewhere."""
_OPTIONS_MEANT = {"--limit": "--top-k", "--top-k": "--limit", "--max": "--limit", "-n": "--limit", "-k": "--top-k"}
"""Options likewise; each is suggested where the command has it."""


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command in the help: the module of `mnemic` that defines it, and what it does in one line; without a module,
    the extra whose package offers it by an entry point of `mnemic.commands`.
    """

    module: str
    line: str
    extra: str | None = None


class Command(click.Command):
    """A command that also takes the common options, anywhere on the line."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A docstring spells click's mark "do not wrap this paragraph" as text.
        self.help = (self.help or "").replace("\\b\n", "\b\n")
        self.own = len(self.params)
        self.params += common_options(environment=False)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of the line, and suggest the option that another name was meant for."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as unknown:
            meant = _OPTIONS_MEANT.get(unknown.option_name)
            if meant is None or not any(meant in option.opts for option in self.params):
                raise
            raise click.UsageError(
                f"No such option {unknown.option_name!r}. Did you mean {meant!r}?", ctx=ctx
            ) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options first, then those of every command."""
        sections = (("Options", self.params[: self.own]), ("Options of every command", self.params[self.own :]))
        for title, params in sections:
            shown = [*params, *self.get_params(ctx)[-1:]] if title.endswith("command") else params
            options = [param for param in shown if isinstance(param, click.Option)]
            rows = [row for option in options if (row := option.get_help_record(ctx)) is not None]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class TenantCommand(Command):
    """A command about a tenant or the whole store. It needs no user: without a login name the number of the operating
    system's user is recorded.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        ctx.ensure_object(Given).personal = False
        return super().invoke(ctx)


def _read_environment(_: click.Context, __: click.Parameter, file: str | None) -> None:
    if file is not None:
        os.environ["MNEMIC_ENV_FILE"] = file


def common_options(*, environment: bool) -> list[click.Parameter]:
    """Return the options that say whose memory, in which file, and how to print."""

    def option(*names: str, **settings: Any) -> click.Option:
        name = names[0].lstrip("-")
        variable = _ENVIRONMENT.get(name) if environment else None
        return click.Option(names, expose_value=False, callback=_keep, envvar=variable, **settings)

    return [
        option(
            "--store", metavar="PATH", help="The memory file, or the https address of a service. [default: mnemic.db]"
        ),
        option("--api-key-file", metavar="FILE", help="File with the key for a service. [default: MNEMIC_SERVICE_KEY]"),
        option("--user", metavar="ID", help="User whose memories are used. [default: your login name]"),
        option("--tenant", metavar="ID", help="Tenant ID."),
        option("--agent", metavar="ID", help="Agent ID."),
        option("--session", metavar="ID", help="Session ID."),
        option("--workspace", metavar="ID", help="Workspace ID, if that level is granted."),
        option(
            "--repository",
            is_flag=True,
            default=None,
            help="Use the memory that coding agents have of the repository around this folder.",
        ),
        option("--policy", metavar="FILE", help="Policy file, in TOML or JSON: what may be remembered."),
        click.Option(
            ["--env-file"],
            metavar="FILE",
            expose_value=False,
            is_eager=True,
            callback=_read_environment,
            help="Environment file, one NAME=value per line; none is read by default.",
        ),
        option("--json", "as_json", is_flag=True, default=None, help="Print JSON instead of text."),
        option("--debug", is_flag=True, default=None, help="Show where an error came from."),
    ]


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    given = context.ensure_object(Given)
    if value is not None and parameter.name is not None:
        setattr(given, parameter.name, value)


class LazyGroup(click.Group):
    """A group that knows each command's line of help without importing the command."""

    def __init__(self, *, groups: Mapping[str, Mapping[str, CommandEntry]], **settings: Any) -> None:
        super().__init__(
            params=[*common_options(environment=True), _version_option()],
            context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
            **settings,
        )
        self._groups = groups
        self._listed = {name: listed for group in groups.values() for name, listed in group.items()}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, in the order of the help, then those of other packages."""
        return [*self._listed, *self._further()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command, imported now; None for a name that is not listed and that no plug-in offers. Raises
        MissingExtra (`missing_extra:<name>`) for a command of a package that is not installed.
        """
        listed = self._listed.get(cmd_name)
        if listed is None or listed.extra is not None:
            offered: click.Command | None = plugin("commands", cmd_name)
            if offered is None and listed is not None and listed.extra is not None:
                raise missing_extra(listed.extra)
            return offered
        module = import_module(f"mnemic.{listed.module}")
        command: click.Command = getattr(module, f"{cmd_name}_")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a name that was nearly right suggested."""
        known = args[0] in self._listed or args[0].startswith("-") or ctx.resilient_parsing
        if not known and not is_offered("commands", args[0]):
            if (meant := _MEANT.get(args[0])) is not None:
                raise click.UsageError(f"No such command {args[0]!r}. Did you mean {meant!r}?", ctx=ctx)
            raise click.NoSuchCommand(args[0], possibilities=self.list_commands(ctx), ctx=ctx)
        return super().resolve_command(ctx, args)

    def _further(self) -> dict[str, str]:
        """Return the commands of packages that the list does not know, each with its package and version; none is
        loaded.
        """
        found = list_plugins(["commands"])
        return {name: package for _, name, _, package in found if name not in self._listed}

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands by section, from the list alone, and the names that other packages offer."""
        for title, group in self._groups.items():
            with formatter.section(title):
                formatter.write_dl([(name, listed.line) for name, listed in group.items()], col_max=16)
        further = self._further()
        if further:
            with formatter.section("Commands of other packages"):
                formatter.write_dl([(name, f"Of {package}.") for name, package in further.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names of commands and options that begin so."""
        lines = {name: one.line for name, one in self._listed.items()} | self._further()
        names = [(name, line) for name, line in lines.items() if name.startswith(incomplete)]
        options = [] if names and not incomplete else click.Command.shell_complete(self, ctx, incomplete)
        return [CompletionItem(name, help=line) for name, line in names] + options

    def main(self, args: Sequence[str] | None = None, *rest: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run and exit with the documented code; an error is one line."""
        words = list(sys.argv[1:] if args is None else args)
        run: Callable[..., Any] = super().main
        if not standalone_mode:
            return run(words, *rest, standalone_mode=False, **extra)
        _make_output_safe()

        def work() -> Any:
            _check_words(words)
            return run(words, *rest, standalone_mode=False, **extra)

        sys.exit(run_guarded(work, debug="--debug" in words or bool(os.environ.get("MNEMIC_DEBUG"))))


def _check_words(words: Sequence[str]) -> None:
    """Check that what the shell passed is text: bytes that are not UTF-8 arrive as half surrogate pairs."""
    for position, word in enumerate(words, start=1):
        if any("\ud800" <= character <= "\udfff" for character in word):
            raise InvalidInput("argument:encoding", hint=f"argument {position} is not valid UTF-8")
        if "\0" in word:
            raise InvalidInput("argument:nul", hint=f"argument {position} contains a NUL character")


def _make_output_safe() -> None:
    """Make a terminal with a narrow encoding show escapes for characters that it cannot show."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _version_option() -> click.Option:
    def show(context: click.Context, _: click.Parameter, wanted: bool) -> None:
        from importlib import metadata  # 20 ms that only this option needs

        if wanted and not context.resilient_parsing:
            click.echo(f"mnemic {metadata.version('mnemic')}")
            context.exit()

    return click.Option(
        ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=show, help="Show the version."
    )
