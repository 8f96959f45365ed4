"""The command `mnemic`. Its help costs click and nothing else; a command's own file is loaded when it is called."""

from __future__ import annotations

from types import MappingProxyType

from mnemic_cli.command_loader import LazyGroup, Listed

GROUPS = MappingProxyType(
    {
        "Start": {
            "init": Listed("init_command", "Write a file of settings, question by question."),
            "chat": Listed("chat_command", "Talk to a model with memory; see what is remembered and shown."),
            "demo": Listed("demo", "Run three demonstrations; no key needed."),
            "doctor": Listed("health", "Check the store, the embedder and the configuration."),
        },
        "Memories": {
            "add": Listed("write_commands", "Remember one thing."),
            "capture": Listed("write_commands", "Remember the lasting facts in a message."),
            "search": Listed("read_commands", "Find the memories that answer a question."),
            "get": Listed("read_commands", "Show one memory."),
            "list": Listed("read_commands", "List memories, newest first."),
            "count": Listed("inspection_commands", "Count the active memories."),
            "update": Listed("write_commands", "Correct a memory; the old version is kept."),
            "history": Listed("read_commands", "Show every version of a memory."),
            "lineage": Listed("inspection_commands", "Show the predecessors and successors of a memory."),
            "uses": Listed("inspection_commands", "Show the audit of a memory."),
            "undo": Listed("write_commands", "Undo a merge or a replacement."),
            "rollback": Listed("write_commands", "Go back to an earlier version of a memory."),
            "forget": Listed("write_commands", "Delete memories for good."),
        },
        "Models and agents": {
            "context": Listed("inspection_commands", "Show the memories that a model would be given."),
            "run": Listed("run_command", "One turn: remember, answer from memory, audit the answer."),
            "mcp": Listed("", "Serve one user's memory to MCP clients.", "mnemic-agents"),
        },
        "Import and export": {
            "import": Listed("export_import", "Import a conversation or an export."),
            "export": Listed("export_import", "Write all memories as JSON lines."),
        },
        "Privacy and review": {
            "review": Listed("administration_commands", "List memories that await review; approve or reject them."),
            "consent": Listed("administration_commands", "Decide which keys may be remembered about you."),
            "reveal": Listed("reveal_command", "Show the original values behind the markers of a memory."),
            "erase": Listed("administration_commands", "Erase everything about a user, with a receipt."),
            "audit": Listed("administration_commands", "Show or verify the audit."),
        },
        "Operation": {
            "maintain": Listed("administration_commands", "Expire, purge, update copies, compact the file."),
            "backup": Listed("backup_commands", "Copy the store while it is in use."),
            "restore": Listed("backup_commands", "Restore a store from a verified backup."),
            "move": Listed("backup_commands", "Move everything to another store."),
            "salvage": Listed("backup_commands", "Recover the readable contents of a damaged file."),
            "keys": Listed("", "Create, change or inspect the keys.", "mnemic-keys"),
            "serve": Listed("", "Serve memory over HTTP.", "mnemic-server"),
            "apikeys": Listed("", "Create and revoke the API keys of the service.", "mnemic-server"),
            "tenants": Listed("", "Create, limit and suspend the tenants of the service.", "mnemic-server"),
            "webhooks": Listed("", "Create, list, rotate, enable and delete webhooks.", "mnemic-server"),
            "work": Listed("", "Update projections and run maintenance continuously.", "mnemic-server"),
            "top": Listed("", "Monitor a running service.", "mnemic-server"),
        },
        "Measuring and extending": {
            "eval": Listed("", "Measure search quality on public conversations.", "mnemic-eval"),
            "bench": Listed("", "Measure the speed on this machine.", "mnemic-eval"),
            "calibrate": Listed(
                "", package="mnemic-eval", line="Choose the merge and review thresholds for your embedder."
            ),
            "embedder": Listed("", "Use your own ONNX model.", "mnemic-onnx"),
            "plugin": Listed("", "Create a plug-in package; list the installed ones.", "mnemic-testing"),
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
  mnemic search "do I eat meat?"

The options below may also follow the command. MNEMIC_STORE, MNEMIC_USER, MNEMIC_POLICY and so on are read from the
environment; an option wins.
"""

EPILOG = """\b
Exit codes:
  0  done
  1  the object does not exist, or the run was stopped or refused
  2  the command line is wrong
  3  the input cannot be used
  4  the store failed
  5  the model or the embedder failed
"""

cli = LazyGroup(name="mnemic", package=__name__, groups=GROUPS, help=HELP, epilog=EPILOG)


def main() -> None:
    """Run the command line and exit with its exit code."""
    cli(prog_name="mnemic")
