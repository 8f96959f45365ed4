"""Images are pinned by the digests that their registries give, all of them or none. No registry takes part here: what
asks one is a script that answers as `crane digest` does.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT

DEPLOY = ROOT / "deploy"
FILES = ("Containerfile", "compose.yaml")
DIGEST = "sha256:" + "5e" * 32
PULLED = re.compile(r"^(?:FROM|\s*image:)\s+(\S+/\S+)", re.MULTILINE)


def pin(folder: Path, asking: str | None) -> subprocess.CompletedProcess[str]:
    """Pin the images with no other programs at hand than the shell's and `asking`, a script named crane."""
    programs = folder / "bin"
    programs.mkdir()
    for name in ("bash", "sed", "sort", "mktemp", "rm", "cp", "mkdir", "dirname"):
        (programs / name).symlink_to(shutil.which(name) or name)
    if asking is not None:
        (programs / "crane").write_text(f"#!/bin/sh\n{asking}\n")
        (programs / "crane").chmod(0o755)
    return subprocess.run(
        ["bash", str(DEPLOY / "pin-images.sh"), str(folder / "pinned")],
        env={"PATH": str(programs)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_image_that_is_pulled_is_named_by_its_digest(tmp_path: Path) -> None:
    done = pin(tmp_path, f'[ "$1" = digest ] && echo {DIGEST}')
    assert (done.returncode, done.stderr) == (0, "")
    for name in FILES:
        before, after = ((folder / name).read_text() for folder in (DEPLOY, tmp_path / "pinned"))
        assert PULLED.findall(before)
        assert PULLED.findall(after) == [f"{image}@{DIGEST}" for image in PULLED.findall(before)]
        assert after.replace(f"@{DIGEST}", "") == before


@pytest.mark.parametrize(
    ("asking", "said"),
    [
        (None, "needs crane, skopeo or docker"),
        ("exit 1", "cannot be resolved"),
        (f'case "$2" in *valkey*) exit 1;; *) echo {DIGEST};; esac', "valkey:9 cannot be resolved"),
        ('echo "no such image"', "has no digest (no such image)"),
        ("echo sha256:5e5e", "has no digest"),
    ],
)
def test_where_one_is_not_resolved_nothing_is_written(tmp_path: Path, asking: str | None, said: str) -> None:
    done = pin(tmp_path, asking)
    assert done.returncode == 1
    assert said in done.stderr
    assert not (tmp_path / "pinned").exists()


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "pinned").mkdir()
    assert pin(tmp_path, f"echo {DIGEST}").returncode == 2
