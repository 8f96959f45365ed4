"""The console's files: complete, small, with nothing in them that a strict policy would have to allow."""

from __future__ import annotations

import inspect
import re
from importlib.resources import files
from pathlib import Path

import pytest

from mnemic import errors
from mnemic.cli.result_texts import ERASED
from mnemic_server.problems import MEDIA_TYPE
from mnemic_server.routes.console import POLICY

from .conftest import Running

ROOT = Path(str(files("mnemic_server") / "console"))
FILES = sorted(path for path in ROOT.rglob("*") if path.suffix in {".js", ".css", ".html", ".svg"})
SCRIPTS = [path for path in FILES if path.suffix == ".js"]
IMPORTED = re.compile(r"""(?:from|import\()\s*"(\.[^"]+)\"""")


async def test_every_file_is_served_with_a_strict_policy_and_a_tag(running: Running) -> None:
    for path in FILES:
        answer = await running.client.get(f"/console/{path.relative_to(ROOT)}")
        assert answer.status_code == 200
        assert answer.content == path.read_bytes()
        assert answer.headers["content-security-policy"] == POLICY
        plain = await running.client.get(answer.url, headers={"Accept-Encoding": "identity"})
        assert plain.content == answer.content
        assert plain.headers["etag"] != answer.headers["etag"]
        again = await running.client.get(answer.url, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["nothing.js", "../app.js", "..%2f..%2fconfig.py", "__init__.py", "pages", "pages/"])
async def test_nothing_else_is(running: Running, path: str) -> None:
    answer = await running.client.get(f"/console/{path}")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == MEDIA_TYPE


async def test_the_address_alone_leads_there(running: Running) -> None:
    answer = await running.client.get("/", follow_redirects=True)
    assert answer.url.path == "/console"
    assert answer.headers["content-type"].startswith("text/html")


async def test_the_whole_console_is_sent_in_less_than_97_kilobytes(running: Running) -> None:
    sizes = {}
    for path in FILES:
        async with running.client.stream("GET", f"/console/{path.relative_to(ROOT)}") as answer:
            sizes[path.name] = len(b"".join([part async for part in answer.aiter_raw()]))
            assert answer.headers["content-encoding"] == "gzip"
    assert sum(sizes.values()) < 97_000


def test_every_import_names_a_file() -> None:
    for path in SCRIPTS:
        for name in IMPORTED.findall(path.read_text()):
            assert (path.parent / name).resolve() in FILES, f"{path.name} imports {name}"


def test_nothing_becomes_markup_and_nothing_is_fetched_from_elsewhere() -> None:
    risky = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser")
    elsewhere = re.compile(r"""["'(]\s*(?:https?:)?//\w""")
    for path in FILES:
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert not risky.search(text), path.name
        assert not elsewhere.search(text), path.name
    assert not re.search(r"<script(?![^>]*src=)|<style|\bon\w+=|style=", (ROOT / "index.html").read_text())


def test_one_place_calls_the_service_and_one_makes_elements() -> None:
    calling = {path.name for path in SCRIPTS if re.search(r"\bfetch\(|new EventSource", path.read_text())}
    making = {path.name for path in SCRIPTS if re.search(r"createElement", path.read_text())}
    assert calling == {"api.js"}
    assert making == {"dom.js"}


def test_every_reason_has_plain_words() -> None:
    words = (ROOT / "labels.js").read_text()
    codes = {error.code for _, error in inspect.getmembers(errors, inspect.isclass) if hasattr(error, "code")}
    service = "".join(path.read_text() for path in ROOT.parent.rglob("*.py"))
    codes |= set(re.findall(r'(?:Refused|problem)\(\s*HTTPStatus\.[A-Z_]+, f?"([a-z_]+)', service))
    assert {code for code in codes if f"\n  {code}:" not in words} == set()


def test_the_command_line_names_what_an_erasure_counts_as_the_console_does() -> None:
    listed = re.search(r"const ERASED = \{(.*?)\};", (ROOT / "labels.js").read_text(), re.DOTALL)

    assert listed is not None
    assert dict(re.findall(r'(\w+): "([^"]+)"', listed[1])) == ERASED
