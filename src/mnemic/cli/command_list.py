"""List of the commands by the sections of the help. A new command is a line here and a module."""

from __future__ import annotations

from types import MappingProxyType

from mnemic.cli.lazy_loading import CommandEntry

GROUPS = MappingProxyType(
    {
        "Start": {
            "init": CommandEntry("cli.init_command", "Write a file of settings, question by question."),
            "chat": CommandEntry("cli.chat_command", "Talk to a model with memory; see what is remembered and shown."),
            "demo": CommandEntry("cli.demo", "Run three demonstrations; no key needed."),
            "doctor": CommandEntry("cli.doctor", "Check the store, the embedder and the configuration."),
        },
        "Memories": {
            "add": CommandEntry("cli.write_commands", "Remember one thing."),
            "capture": CommandEntry("cli.write_commands", "Remember the lasting facts in a message."),
            "search": CommandEntry("cli.read_commands", "Find the memories that answer a question."),
            "get": CommandEntry("cli.read_commands", "Show one memory."),
            "list": CommandEntry("cli.read_commands", "List memories, newest first."),
            "count": CommandEntry("cli.read_commands", "Count the active memories."),
            "profile": CommandEntry("cli.read_commands", "Show who the user is and what holds now."),
            "update": CommandEntry("cli.write_commands", "Correct a memory; the old version is kept."),
            "history": CommandEntry("cli.read_commands", "Show every version of a memory."),
            "lineage": CommandEntry("cli.read_commands", "Show the predecessors and successors of a memory."),
            "uses": CommandEntry("cli.read_commands", "Show the audit of a memory."),
            "undo": CommandEntry("cli.write_commands", "Undo a merge or a replacement."),
            "rollback": CommandEntry("cli.write_commands", "Go back to an earlier version of a memory."),
            "rate": CommandEntry("cli.write_commands", "Say that a memory is useful or wrong."),
            "ratings": CommandEntry("cli.read_commands", "Show what was rated, and the effect."),
            "reread": CommandEntry("cli.write_commands", "Read recorded messages again; see and apply what differs."),
            "forget": CommandEntry("cli.write_commands", "Delete memories permanently."),
        },
        "Models and agents": {
            "context": CommandEntry("cli.read_commands", "Show the memories that a model would be given."),
            "run": CommandEntry("cli.write_commands", "One turn: remember, answer from memory, audit the answer."),
            "mcp": CommandEntry("agents.command_line", "Serve one user's memory to MCP clients."),
            "install": CommandEntry("coding_agents.command_line", "Give coding agents memory: Claude Code, Codex, ..."),
            "uninstall": CommandEntry("coding_agents.command_line", "Take it out of their settings again."),
            "hook": CommandEntry("coding_agents.command_line", "Answer an event of a coding agent."),
        },
        "Import and export": {
            "import": CommandEntry("cli.export_import", "Import a conversation or an export."),
            "export": CommandEntry("cli.export_import", "Write all memories as JSON lines."),
        },
        "Privacy and review": {
            "review": CommandEntry(
                "cli.administration_commands", "List memories that await review; approve or reject them."
            ),
            "consent": CommandEntry("cli.administration_commands", "Decide which keys may be remembered about you."),
            "reveal": CommandEntry("cli.read_commands", "Show the original values behind the markers of a memory."),
            "erase": CommandEntry("cli.administration_commands", "Erase everything about a user, with a receipt."),
            "audit": CommandEntry("cli.administration_commands", "Show or verify the audit."),
        },
        "Operation": {
            "maintain": CommandEntry("cli.administration_commands", "Expire, purge, update copies, compact the file."),
            "backup": CommandEntry("cli.backup_commands", "Copy the store while it is in use."),
            "restore": CommandEntry("cli.backup_commands", "Restore a store from a verified backup."),
            "move": CommandEntry("cli.backup_commands", "Move everything to another store."),
            "salvage": CommandEntry("cli.backup_commands", "Recover the readable contents of a damaged file."),
            "keys": CommandEntry("keys.command_line", "Create, change or inspect the keys."),
            "serve": CommandEntry("", "Serve memory over HTTP.", "server"),
            "apikeys": CommandEntry("", "Create and revoke the API keys of the service.", "server"),
            "tenants": CommandEntry("", "Create, limit and suspend the tenants of the service.", "server"),
            "webhooks": CommandEntry("", "Create, list, rotate, enable and delete webhooks.", "server"),
            "work": CommandEntry("", "Update projections and run maintenance continuously.", "server"),
            "top": CommandEntry("", "Monitor a running service.", "server"),
        },
        "Extending": {
            "embedder": CommandEntry("onnx.command_line", "Use your own ONNX model."),
            "plugins": CommandEntry("cli.read_commands", "List the installed plug-ins."),
            "completion": CommandEntry("cli.read_commands", "Print the completion script of a shell."),
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
