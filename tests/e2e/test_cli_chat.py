"""The two commands that one begins with: `init` writes the settings, `chat` talks to a model with memory."""

from __future__ import annotations

import json
import stat
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mnemic.cli import COMMANDS, GROUPS, cli
from mnemic.cli.chat_command import Conversation
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Completion, Deadline, Prompt
from tests.e2e.conftest import Call, complaint
from tests.scripted_model import Fault, ModelRequest, Reply, ScriptedModelServer

NOTHING = {"items": []}


def turns(told: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in told.splitlines()]


def answered(request: ModelRequest) -> str:
    """Answer a turn of the conversation from what the request has; anything else is asked to extract nothing."""
    if request.user.startswith("{"):
        return json.dumps(NOTHING)
    return f"{len(request.body['messages']) - 2} before; memory has Miso: {'Miso' in request.user}"


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Any:
    with ScriptedModelServer(answered) as server:
        monkeypatch.setenv("MNEMIC_MODEL", "scripted")
        monkeypatch.setenv("MNEMIC_MODEL_URL", server.base_url)
        monkeypatch.setenv("MNEMIC_API_KEY", "test")
        yield server


def test_the_model_sees_memory_and_the_turns_before(mnemic: Call, model: ScriptedModelServer) -> None:
    mnemic("add", "The cat is called Miso.")
    first, second = turns(mnemic("chat", "--json", stdin="What is my cat called?\n\nAnd now?\n").stdout)
    assert first["answer"] == "0 before; memory has Miso: True"
    assert [one["content"] for one in first["shown"]] == ["The cat is called Miso."]
    assert second["answer"].startswith("2 before")
    asked = [one.body for one in model.requests if not one.user.startswith("{")][-1]
    assert [one["role"] for one in asked["messages"]] == ["system", "user", "assistant", "user"]
    assert asked["messages"][1]["content"] == "What is my cat called?", "turns are sent as they were said"
    assert "response_format" not in asked
    (day, *_, said) = asked["messages"][-1]["content"].splitlines()
    assert (day, said) == (f"Today is {datetime.now().astimezone().date().isoformat()}.", "And now?")


def test_a_long_talk_begins_with_the_same_turns_most_of_the_time(mnemic: Call, model: ScriptedModelServer) -> None:
    """A vendor's cache holds a prompt from its beginning: one that loses its first turn at each turn is never held."""
    mnemic("chat", "--json", stdin="".join(f"What is {number} and one?\n" for number in range(24)))
    asked = [one.body["messages"] for one in model.requests if not one.user.startswith("{")]
    begins = [messages[1]["content"].splitlines()[-1] for messages in asked]
    assert len(asked) == 24
    assert len(set(begins)) == 3
    assert max(len(messages) for messages in asked) == 1 + 28 + 1


def test_the_text_says_what_a_turn_cost(
    mnemic: Call, model: ScriptedModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scripted server counts seven tokens in and five out for each answer."""
    told = mnemic("chat", stdin="I keep bees in Ystad.\n").stdout
    assert "  cost        2 calls, 14 tokens in, 10 out\n" in told
    assert mnemic("capture", "I keep bees in Ystad.").stdout.endswith("1 call, 7 tokens in, 5 out\n")
    monkeypatch.setenv("MNEMIC_MODEL_PRICES", "100000/200000")
    assert "2 calls, 14 tokens in, 10 out, 3.400000\n" in mnemic("chat", stdin="I keep bees in Ystad.\n").stdout


def test_a_model_that_is_too_slow_names_the_settings(mnemic: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModelServer(lambda request: Reply.broken(Fault.HANG)) as server:
        monkeypatch.setenv("MNEMIC_MODEL_URL", server.base_url)
        monkeypatch.setenv("MNEMIC_MODEL_TIMEOUT_SECONDS", "0.2")
        told = mnemic("run", "--goal", "What do I eat?")
    assert "MNEMIC_MODEL_TIMEOUT_SECONDS is the time of a call, MNEMIC_MAX_SECONDS that of a turn" in told.stderr


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ('{"colours": ["red", "blue"]}', '{"colours": ["red", "blue"]}'),
        ("```python\nprint(1)\n```", "```python\nprint(1)\n```"),
        ('{"answer": "Red and blue."}', "Red and blue."),
        ("<think>Which two?</think>\n\nRed and blue.", "Red and blue."),
    ],
)
def test_an_answer_that_is_data_or_code_is_shown(
    mnemic: Call, monkeypatch: pytest.MonkeyPatch, said: str, shown: str
) -> None:
    with ScriptedModelServer(lambda request: NOTHING if request.user.startswith("{") else said) as server:
        monkeypatch.setenv("MNEMIC_MODEL_URL", server.base_url)
        (turn,) = turns(mnemic("--json", "chat", stdin="Give me two colours as JSON.\n").stdout)
    assert (turn["answer"], turn.get("error")) == (shown, None)


def test_small_talk_costs_no_reading(mnemic: Call, model: ScriptedModelServer) -> None:
    mnemic("chat", stdin="ok thanks\n")
    assert [one.user.startswith("{") for one in model.requests] == [False]


def test_what_was_said_is_kept_with_who_said_it(mnemic: Call, model: ScriptedModelServer) -> None:
    mnemic("chat", stdin="What is my cat called?\n")
    kept = json.loads(mnemic("list", "--kind", "episodic", "--json").stdout)["memories"]
    assert {(one["content"], one["source"]["origin"]) for one in kept} == {
        ("What is my cat called?", "user_stated"),
        ("0 before; memory has Miso: False", "agent_inferred"),
    }


def test_an_earlier_question_is_not_shown_as_if_it_were_known(mnemic: Call, model: ScriptedModelServer) -> None:
    mnemic("add", "I work at Siemens.")
    mnemic("chat", stdin="Where do I work?\nWhat is my dog called?\n")
    again = turns(mnemic("chat", "--json", stdin="Where do I work?\nWhat is my dog called?\n").stdout)
    shown = [[one["content"] for one in turn["shown"]] for turn in again]
    assert "I work at Siemens." in shown[0]
    assert not any(content.endswith("?") for contents in shown for content in contents)


def test_hits_that_are_hardly_about_the_query_are_not_printed(mnemic: Call) -> None:
    for text in ("I work at Siemens.", "My dog is called Rex.", "I like rye bread.", "The boiler was serviced in May."):
        mnemic("add", text)
    found = mnemic("search", "What is my dog called?")
    assert "Rex" in found.stdout
    assert "boiler" not in found.stdout
    assert "less relevant hit" in found.stderr
    everything = json.loads(mnemic("search", "What is my dog called?", "--json").stdout)
    assert len(everything["hits"]) > 1


def test_without_a_model_one_sees_what_it_would_be_shown(mnemic: Call) -> None:
    mnemic("add", "The cat is called Miso.")
    result = mnemic("chat", stdin="I live in Oslo.\nWhat is my cat called?\n/quit\nI live in Rome.\n")
    assert result.exit_code == 0
    assert "no language model is configured" in result.stderr
    assert "shown       The cat is called Miso." in result.stdout
    (kept,) = (line for line in result.stdout.splitlines() if line.startswith("  remembered  created"))
    assert kept.split()[2:4] == ["home_city", "Oslo"]
    assert "Rome" not in mnemic("list").stdout
    assert "Oslo" in mnemic("list").stdout


def test_a_question_that_states_nothing_is_reported_as_recorded(mnemic: Call) -> None:
    result = mnemic("chat", stdin="What do I eat?\n")
    (recorded,) = (line for line in result.stdout.splitlines() if line.startswith("  recorded"))
    assert recorded.split(maxsplit=1)[1] == "your message, word for word"
    (kept,) = json.loads(mnemic("list", "--kind", "episodic", "--json").stdout)["memories"]
    assert kept["content"] == "What do I eat?"
    (turn,) = turns(mnemic("chat", "--json", stdin="And what do I drink?\n").stdout)
    assert turn["recorded"][0] in {
        one["memory_id"] for one in json.loads(mnemic("list", "--kind", "episodic", "--json").stdout)["memories"]
    }


@pytest.mark.parametrize("said", ["A lentil curry.", "<think>Hm {x}.</think>\n\nA lentil curry."])
def test_an_answer_in_plain_words_is_shown(mnemic: Call, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    with ScriptedModelServer(lambda request: said) as server:
        monkeypatch.setenv("MNEMIC_MODEL_URL", server.base_url)
        result = mnemic("chat", "--quiet", stdin="What do I cook?\n")
    assert result.stdout.strip() == "A lentil curry."


def test_a_model_that_fails_is_named_and_the_message_is_kept(mnemic: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModelServer(lambda request: "") as server:
        monkeypatch.setenv("MNEMIC_MODEL_URL", server.base_url)
        result = mnemic("chat", stdin="The cat is called Miso.\n")
    assert "llm_empty" in result.stderr
    assert "Miso" in mnemic("list", "--kind", "episodic").stdout


def test_a_model_that_nobody_serves_is_named_with_its_address(mnemic: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MNEMIC_MODEL_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("MNEMIC_MODEL", "own")
    talk = mnemic("chat", stdin="The cat is called Miso.\n")
    assert talk.exit_code == 5
    assert " - asked own at http://127.0.0.1:1/v1: no answer" in talk.stderr
    assert "  remembered  created  The cat is called Miso." in talk.stdout
    assert "  recorded    your message" in talk.stdout
    captured = mnemic("capture", "My dog is called Rex.")
    assert captured.exit_code == 0
    assert "My dog is called Rex." in mnemic("list", "--kind", "long_term").stdout


def test_quiet_prints_answers_alone(mnemic: Call, model: ScriptedModelServer) -> None:
    assert mnemic("chat", "--quiet", stdin="Hello?\n").stdout == "0 before; memory has Miso: False\n"


def test_a_request_about_memory_needs_a_person(mnemic: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    mnemic("add", "My sister keeps bees in Ystad.")
    assert "not confirmed" in mnemic("chat", stdin="Forget what I told you about my sister.\n").stdout
    for module in ("chat_command", "write_commands"):
        monkeypatch.setattr(f"mnemic.cli.{module}.at_terminal", lambda: True)
    told = mnemic("chat", stdin="Forget what I told you about my sister.\ny\n").stdout
    assert "forgotten  1 memory" in told


def test_chat_names_no_option_that_it_has_not(mnemic: Call) -> None:
    mnemic("capture", "My sister Emma lives in Madrid.")
    told = mnemic("chat", stdin="Forget what I told you about my sister.\n").stdout
    assert "not confirmed: nothing was done (forget)" in told
    assert "--yes" not in told
    assert "; --yes carries it out" in mnemic("capture", "Forget what I told you about my sister.").stdout


@pytest.mark.parametrize("line", ["/help", "/forget seat", "/?", "/"])
def test_a_command_that_chat_does_not_have_is_explained_and_not_recorded(mnemic: Call, line: str) -> None:
    told = mnemic("chat", stdin=f"{line}\n")
    command = line.partition(" ")[0]
    assert f"{command} is no command here, and was not recorded: /quit or Ctrl-D leaves" in told.stderr
    assert told.stdout == ""
    assert json.loads(mnemic("list", "--json").stdout)["memories"] == []


def test_a_path_is_a_message(mnemic: Call) -> None:
    assert "your message, word for word" in mnemic("chat", stdin="/srv/photos is where my pictures are.\n").stdout


def test_chat_says_at_a_terminal_how_to_leave_it(mnemic: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mnemic.cli.chat_command.at_terminal", lambda: True)
    assert "/quit or Ctrl-D leaves" in mnemic("chat", stdin="/quit\n").stderr


def test_quiet_chat_without_a_model_says_that_nothing_answers(mnemic: Call) -> None:
    told = mnemic("chat", "--quiet", stdin="What do I eat?\n")
    assert "no language model is configured (MNEMIC_MODEL or MNEMIC_MODEL_URL): nothing answers you" in told.stderr


def begin(*words: str, stdin: str | None = None) -> Any:
    return CliRunner().invoke(cli, ["init", *words], input=stdin, prog_name="mnemic")


def test_the_file_that_init_writes_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "it's a key").write_text("secret\n", encoding="utf-8")
    result = begin("--model", "scripted", "--model-url", "http://127.0.0.1:9/v1", "--key-file", "it's a key")
    assert result.exit_code == 0, result.output
    file = tmp_path / "mnemic.env"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "secret" not in file.read_text("utf-8")
    monkeypatch.setenv("MNEMIC_ENV_FILE", str(file))
    settings = Settings.load()
    assert (settings.store, settings.model) == (str(tmp_path / "mnemic.db"), "scripted")
    assert settings.key_for("model_url") == "secret"


def test_init_asks_at_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mnemic.cli.init_command.at_terminal", lambda: True)
    begin(stdin="\nscripted\nhttp://127.0.0.1:9/v1\n\n")
    assert (tmp_path / "mnemic.env").read_text("utf-8").splitlines() == [
        f"MNEMIC_STORE='{tmp_path}/mnemic.db'",
        "MNEMIC_MODEL='scripted'",
        "MNEMIC_MODEL_URL='http://127.0.0.1:9/v1'",
    ]


def test_init_refuses_a_key_file_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = begin("--model", "scripted", "--key-file", "model.key")
    assert refused.exit_code == 3
    assert complaint(refused) == (
        "invalid_input:key_file:missing - there is no file model.key: write the key into it first"
        " (umask 077; cat > model.key)"
    )
    assert list(tmp_path.iterdir()) == []


def test_init_asks_for_the_key_of_a_new_file_at_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("mnemic.cli.init_command.at_terminal", lambda: True)
    done = begin("--store", "m.db", "--model", "scripted", "--key-file", "model.key", stdin="secret\n")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "model.key").read_text("utf-8") == "secret\n"
    assert stat.S_IMODE((tmp_path / "model.key").stat().st_mode) == 0o600
    assert "secret" not in done.output
    assert "secret" not in (tmp_path / "mnemic.env").read_text("utf-8")


def test_init_replaces_nothing_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mnemic.env").write_text("KEPT=1\n", encoding="utf-8")
    refused = begin()
    assert refused.exit_code == 3
    assert "invalid_input:output:exists" in complaint(refused)
    assert (tmp_path / "mnemic.env").read_text("utf-8") == "KEPT=1\n"
    assert begin("--force", "--store", "postgresql://ana@host/memories").exit_code == 0
    assert (tmp_path / "mnemic.env").read_text("utf-8") == "MNEMIC_STORE='postgresql://ana@host/memories'\n"
    assert "invalid_config:output" in complaint(begin("--output", "no/such/folder"))


def test_every_command_is_in_one_section_of_the_help() -> None:
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)
    told = CliRunner().invoke(cli, ["--help"]).stdout
    assert all(f"\n{title}:\n" in told for title in GROUPS)


def test_a_turn_is_kept_with_what_the_model_was_shown_and_answered(mnemic: Call, model: ScriptedModelServer) -> None:
    mnemic("add", "The cat is called Miso.")
    mnemic("chat", stdin="What is my cat called?\n")
    data = json.loads(mnemic("export", "--subject", "ana").stdout)
    (turn,) = data["turns"]
    assert (turn["question"], turn["answer"]) == ("What is my cat called?", "0 before; memory has Miso: True")
    assert "Miso" in turn["block"]


def test_an_answer_is_shown_as_it_comes_without_what_the_model_thought(
    mnemic: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def thinking(request: ModelRequest) -> str:
        return json.dumps(NOTHING) if request.user.startswith("{") else "<think>Cats.</think>\nMiso, of course."

    with ScriptedModelServer(thinking) as server:
        monkeypatch.setenv("MNEMIC_MODEL", "scripted")
        monkeypatch.setenv("MNEMIC_MODEL_URL", server.base_url)
        told = mnemic("chat", "--quiet", stdin="What is my cat called?\n").stdout
        assert server.requests[0].body["stream"] is True
    assert told == "Miso, of course.\n"


def test_an_answer_that_was_cut_off_is_marked(mnemic: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(request: ModelRequest) -> Reply | dict[str, Any]:
        return NOTHING if request.user.startswith("{") else Reply(content="First, take an", fault=Fault.CUT_OFF)

    with ScriptedModelServer(cut) as server:
        monkeypatch.setenv("MNEMIC_MODEL", "scripted")
        monkeypatch.setenv("MNEMIC_MODEL_URL", server.base_url)
        told = mnemic("chat", stdin="How do I cook a lentil curry?\n")
        (turn,) = turns(mnemic("chat", "--json", stdin="How do I cook a lentil curry?\n").stdout)
    assert "First, take an" in told.stdout
    assert "llm_truncated" in told.stderr
    assert (turn["answer"], turn["warning"]) == ("First, take an", "llm_truncated")


async def test_the_answer_waits_for_no_reading_and_what_was_said_is_durable_before_it() -> None:
    happened: list[str] = []
    actor = Actor(user="ana")

    class Model:
        model = "scripted"

        async def complete(self, prompt: Prompt, *, deadline: Deadline) -> Completion:
            kept = [one.content for one in await engine.list(actor=actor, kinds=("episodic",))]
            if prompt.tell is None:
                happened.append("read")
                return Completion(text=json.dumps(NOTHING), model="scripted")
            happened.extend(f"recorded: {content}" for content in kept)
            prompt.tell("Lovely!")
            return Completion(text="Lovely!", model="scripted")

        async def close(self) -> None:
            """Nothing is open."""

    model = Model()
    extractor = LayeredExtractor(ModelExtractor(model))
    async with MemoryEngine(
        store=InProcessStore(), embedder=WordEmbedder(), extractor=extractor, completer=model
    ) as engine:
        await Conversation().turn(engine, actor, "I keep bees in Ystad.", happened.append)
    assert happened == ["recorded: I keep bees in Ystad.", "Lovely!", "\n", "read"]
