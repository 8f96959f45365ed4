"""Every error as one line and one exit code."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic import MemoryManager
from mnemic.cli.result_texts import capture_text
from mnemic.cli.terminal import Exit, complain, run_guarded
from mnemic.errors import StoreFull


def test_an_error_of_tasks_that_ran_together_is_told_as_itself(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise ExceptionGroup("tasks", [ExceptionGroup("inner", [StoreFull()]), ValueError("later")])

    assert run_guarded(work, debug=False) == Exit.STORE
    assert capsys.readouterr().err.startswith("mnemic: store_full")


def test_an_error_of_the_system_among_tasks_is_no_bug_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise ExceptionGroup("tasks", [OSError(errno.ENOSPC, "no space")])

    assert run_guarded(work, debug=False) == Exit.REFUSED
    assert capsys.readouterr().err == "mnemic: output_failed:ENOSPC - no space\n"


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("mnemic_server.commands", "missing_extra:server - pip install 'mnemic[server]'"),
        ("numpy", "internal_error:ModuleNotFoundError - this is a bug in mnemic; --debug shows where"),
    ],
)
def test_a_package_that_is_not_installed_is_told_with_the_line_that_installs_it(
    module: str, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def work() -> None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)

    assert run_guarded(work, debug=False) == (Exit.INPUT if line.startswith("missing") else Exit.REFUSED)
    assert capsys.readouterr().err == f"mnemic: {line}\n"


@pytest.mark.parametrize("hint", [None, "the run stopped in phase retrieve_plan"])
def test_a_missing_client_of_the_model_is_told_with_the_line_that_installs_it(
    hint: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    complain("invalid_config:openai", hint)
    assert capsys.readouterr().err == "mnemic: invalid_config:openai - pip install 'mnemic[openai]'\n"


def test_a_capture_that_failed_does_not_say_that_there_was_nothing(tmp_path: Path) -> None:
    with MemoryManager("ana", store=str(tmp_path / "ana.db")) as memory:
        report = replace(memory.capture("Hello."), skipped=())
    assert capture_text(report) == "nothing to remember"
    failed = replace(report, status="failed", stop_reason="invalid_config:openai")
    assert capture_text(failed) == "no fact was remembered"
