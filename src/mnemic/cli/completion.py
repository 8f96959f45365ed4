"""completion: the script that makes a shell complete mnemic's words."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from mnemic.cli.lazy_loading import Command


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_(context: click.Context, shell: str) -> None:
    r"""Print the completion script of a shell.

    \b
      bash   eval "$(mnemic completion bash)"           in ~/.bashrc
      zsh    eval "$(mnemic completion zsh)"            in ~/.zshrc
      fish   mnemic completion fish > ~/.config/fish/completions/mnemic.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    complete = kind(context.find_root().command, {}, "mnemic", "_MNEMIC_COMPLETE")
    click.echo(complete.source_template % complete.source_vars())
