"""The command `mnemic`. Its help costs click and nothing else; a command's own file is loaded when it is called."""

from __future__ import annotations

from types import MappingProxyType

from mnemic.entrypoints.cli.command_loader import LazyGroup, Listed

GROUPS = MappingProxyType(
    {
        "Start": {
            "init": Listed("init_command", "Write a file of settings, question by question."),
            "chat": Listed("chat_command", "Talk to a model with memory; see what is remembered and shown."),
            "demo": Listed("demo", "See it at work: three demonstrations, no key needed."),
            "doctor": Listed("health", "Check the store, the embedder and the configuration."),
        },
        "Memories": {
            "add": Listed("write_commands", "Remember one thing."),
            "capture": Listed("write_commands", "Remember what is worth it in something that was said."),
            "search": Listed("read_commands", "Find the memories that answer a question."),
            "get": Listed("read_commands", "Show one memory."),
            "list": Listed("read_commands", "List memories, newest first."),
            "count": Listed("inspection_commands", "Say how many active memories there are."),
            "update": Listed("write_commands", "Correct a memory; the old version is kept."),
            "history": Listed("read_commands", "Show every version of a memory."),
            "lineage": Listed("inspection_commands", "Show what a memory replaced and what replaced it."),
            "uses": Listed("inspection_commands", "Show what was done with a memory."),
            "undo": Listed("write_commands", "Take back a merge or a replacement."),
            "rollback": Listed("write_commands", "Go back to an earlier version of a memory."),
            "forget": Listed("write_commands", "Delete memories for good."),
        },
        "Models and agents": {
            "context": Listed("inspection_commands", "Show what a model that is asked something is given."),
            "run": Listed("run_command", "One turn: remember, answer from memory, audit the answer."),
            "mcp": Listed("", "Serve one user's memory to MCP clients.", "mnemic-agents"),
        },
        "Import and export": {
            "import": Listed("export_import", "Take in a conversation, or an export."),
            "export": Listed("export_import", "Write all memories as JSON lines."),
        },
        "Privacy and review": {
            "review": Listed("administration_commands", "Look at what waits for a person; approve or reject it."),
            "consent": Listed("administration_commands", "Say which keys may be remembered of you."),
            "reveal": Listed("reveal_command", "Show the values that the markers of a memory replace."),
            "erase": Listed("administration_commands", "Erase everything about a user, with a receipt."),
            "audit": Listed("administration_commands", "Show or verify the audit."),
        },
        "Operation": {
            "maintain": Listed("administration_commands", "Expire, purge, drain the outbox, tidy the file."),
            "backup": Listed("backup_commands", "Copy the store while it is in use."),
            "restore": Listed("backup_commands", "Make a store from a backup, checked."),
            "move": Listed("backup_commands", "Move everything into another store."),
            "salvage": Listed("backup_commands", "Get out of a damaged file what can be read."),
            "keys": Listed("", "Make, change or look at the keys.", "mnemic-keys"),
            "serve": Listed("", "Serve memory over HTTP.", "mnemic-server"),
            "apikeys": Listed("", "Make and revoke the keys of the service.", "mnemic-server"),
            "tenants": Listed("", "Make, limit and suspend the tenants of the service.", "mnemic-server"),
            "webhooks": Listed("", "Make, list, rotate, enable and delete webhooks.", "mnemic-server"),
            "work": Listed("", "Keep projections up to date and do the upkeep, for good.", "mnemic-server"),
            "top": Listed("", "Watch how a running service goes.", "mnemic-server"),
        },
        "Measuring and extending": {
            "eval": Listed("", "Measure how well it finds, on public conversations.", "mnemic-eval"),
            "bench": Listed("", "Measure how fast it is on this machine.", "mnemic-eval"),
            "calibrate": Listed(
                "", package="mnemic-eval", line="Choose the cosines of merging and flagging for your embedder."
            ),
            "embedder": Listed("", "Take an ONNX model of your own into use.", "mnemic-onnx"),
            "plugin": Listed("", "Write a package that adds to it; list those installed.", "mnemic-testing"),
            "completion": Listed("completion", "Print the completion script of a shell."),
        },
    }
)
"""The commands by the sections of the help, each with its module and its one line."""

COMMANDS = MappingProxyType({name: listed for group in GROUPS.values() for name, listed in group.items()})
"""Every command, in the order of the help."""

HELP = """Memory for agents, in one file.

\b
  mnemic add "I prefer aisle seats" --key seat
  mnemic capture "I am vegetarian and I live in Oslo."
  mnemic search "what should I order for dinner?"

The options below may also follow the command. MNEMIC_STORE, MNEMIC_USER, MNEMIC_POLICY and so on are read from the
environment; an option wins.
"""

EPILOG = """\b
Exit codes:
  0  done
  1  the thing asked for is not there, or the run was stopped or refused
  2  the command line is wrong
  3  the input cannot be used
  4  the store failed
  5  the model or the embedder failed
"""

cli = LazyGroup(name="mnemic", package=__name__, groups=GROUPS, help=HELP, epilog=EPILOG)


def main() -> None:
    """Run the command line and exit with its exit code."""
    cli(prog_name="mnemic")
