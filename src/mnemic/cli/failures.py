"""Every error as one line and one exit code."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import click

from mnemic import errors
from mnemic.cli.terminal import paint, printable
from mnemic.plugins.extras import missing_extra


class Exit(IntEnum):
    """Exit codes of the process. Stable API."""

    OK = 0
    REFUSED = 1
    USAGE = 2
    INPUT = 3
    STORE = 4
    MODEL = 5
    INTERRUPTED = 130
    PIPE_CLOSED = 141


_CODES: tuple[tuple[type[errors.MnemicError], Exit], ...] = (
    (errors.ModelFailed, Exit.MODEL),
    (errors.EmbedderFailed, Exit.MODEL),
    (errors.RerankerFailed, Exit.MODEL),
    (errors.StoreFailed, Exit.STORE),
    (errors.NotSupported, Exit.STORE),
    (errors.InvalidCandidates, Exit.INPUT),
    (errors.InvalidIntent, Exit.INPUT),
    (errors.InvalidInput, Exit.INPUT),
    (errors.InvalidConfig, Exit.INPUT),
    (errors.IdempotencyConflict, Exit.INPUT),
)


def exit_code(error: type[errors.MnemicError]) -> Exit:
    """Return the exit code of an error of the tree; an error of neither input, store nor model is a refusal."""
    return next((code for kind, code in _CODES if issubclass(error, kind)), Exit.REFUSED)


def exit_code_of_run(stop_reason: str) -> Exit:
    """Return the exit code of a run that did not end well: a failing store, model or embedder shows, the rest is a
    refusal.
    """
    code = exit_code(errors.error_behind(stop_reason))
    return code if code in {Exit.STORE, Exit.MODEL} else Exit.REFUSED


def exit_code_of_search(reason: str) -> Exit:
    """Return the exit code of an injection that could not look anything up: `<stage>:<reason>`. A stage that took too
    long counts as the store's failure.
    """
    failed = reason.partition(":")[2]
    return Exit.STORE if failed == "timeout" else exit_code(errors.error_behind(failed))


# A report carries the reason of a failure, not its hint; the command that mends it is worth more than its place.
_INSTALL = {"invalid_config:openai": "pip install 'mnemic[openai]'"}
_UNKNOWN = {
    "memory_not_found": "no memory of this user has that identifier or key; mnemic list shows them",
    "invalid_config:api_key": "set MNEMIC_API_KEY or MNEMIC_API_KEY_FILE to the key of the model's server",
}
"""Hints for errors that name none."""


def complain(reason: str, hint: str | None = None) -> None:
    """One line on standard error: `mnemic: <reason> - <hint>`."""
    hint = hint_of(reason, hint)
    line = reason if not hint else f"{reason} - {hint}"
    try:
        sys.stderr.write(f"{paint('mnemic:', stream=sys.stderr, fg='red')} {printable(' '.join(line.split()))}\n")
        sys.stderr.flush()
    except OSError:
        pass  # nobody listens; the exit code still reports it


def hint_of(reason: str, hint: str | None = None) -> str | None:
    """Return what to do about the error: its own hint, or that of the command line."""
    return _INSTALL.get(reason, hint) or _UNKNOWN.get(reason)


def missing_package(error: Exception) -> errors.MissingExtra | None:
    """Return the error for a missing package of mnemic's, with its command of installation; None for another error."""
    if not isinstance(error, ModuleNotFoundError) or isinstance(error, errors.MnemicError):
        return None
    package = (error.name or "").partition(".")[0]
    if not package.startswith("mnemic_"):
        return None
    return missing_extra(package.removeprefix("mnemic_"))


def run_guarded(work: Callable[[], Any], *, debug: bool) -> int:
    """Return the exit code of `work`; any exception is reported in one line first."""
    output = sys.stdout
    try:
        result = work()
        sys.stdout.flush()
        return int(result or 0)
    except SystemExit as left:
        # click exits on a broken pipe and replaces sys.stdout with a silent output, which is how the case is
        # recognised.
        return Exit.PIPE_CLOSED if sys.stdout is not output else int(left.code or 0)
    except Exception as error:  # noqa: BLE001 - the outermost frame: every exception becomes one line
        if debug:
            import traceback

            traceback.print_exc()
        return _report(error)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


def _report(error: Exception) -> int:
    while isinstance(error, ExceptionGroup):  # of tasks that ran together: the first is the cause
        error = error.exceptions[0]
    error = missing_package(error) or error
    if isinstance(error, errors.MnemicError):
        complain(error.reason, error.hint)
        return exit_code(type(error))
    if isinstance(error, click.Abort):
        complain("interrupted")
        return Exit.INTERRUPTED
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return Exit.USAGE
    if isinstance(error, click.ClickException):
        complain(f"usage: {_usage(error)}", _help_hint(error))
        return Exit.USAGE
    if isinstance(error, OSError):
        return _report_os_error(error)
    if isinstance(error, MemoryError):
        complain("out_of_memory", "the machine gave no more memory")
        return Exit.REFUSED
    complain(f"internal_error:{type(error).__name__}", "this is a bug in mnemic; --debug shows where")
    return Exit.REFUSED


def _usage(error: click.ClickException) -> str:
    return error.format_message().rstrip(".").replace("\n", " ")


def _help_hint(error: click.ClickException) -> str | None:
    context = getattr(error, "ctx", None)
    return f"see {context.command_path} --help" if context is not None else None


def _report_os_error(error: OSError) -> int:
    if error.errno == errno.EPIPE:
        # The reader has gone; the interpreter must not fail again when it flushes at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.PIPE_CLOSED
    complain(f"output_failed:{errno.errorcode.get(error.errno or 0, 'error')}", error.strerror)
    return Exit.REFUSED
