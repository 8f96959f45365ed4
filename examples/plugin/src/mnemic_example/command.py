"""A command of the command line."""

import click


@click.command("hello")
def hello_() -> None:
    """Say hello."""
    click.echo("hello")
