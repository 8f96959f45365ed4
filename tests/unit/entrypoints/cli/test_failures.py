"""Every error as one line and one exit code."""

from __future__ import annotations

import errno

import pytest

from mnemic.entrypoints.cli.failures import Exit, guarded
from mnemic.errors import StoreFull


def test_an_error_of_tasks_that_ran_together_is_told_as_itself(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise ExceptionGroup("tasks", [ExceptionGroup("inner", [StoreFull()]), ValueError("later")])

    assert guarded(work, debug=False) == Exit.STORE
    assert capsys.readouterr().err.startswith("mnemic: store_full")


def test_an_error_of_the_system_among_tasks_is_no_bug_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise ExceptionGroup("tasks", [OSError(errno.ENOSPC, "no space")])

    assert guarded(work, debug=False) == Exit.REFUSED
    assert capsys.readouterr().err == "mnemic: output_failed:ENOSPC - no space\n"
