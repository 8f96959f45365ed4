/** What holds now of the person who is signed in, in groups: each sentence with its proof and age, corrected in place. */

import { call } from "./api.js";
import { ask, attempt, button, empty, field, panel, sureToForget, when } from "./components.js";
import { el, several } from "./dom.js";
import { counted, day } from "./labels.js";
import { linkTo } from "./page-list.js";

const GROUPS = [["you", "You"], ["home", "Home"], ["work", "Work"], ["health", "Health"], ["tastes", "Tastes"], ["people", "People"], ["plans", "Plans"]];
/** More than anybody reads; the service cuts by tokens. */
const EVERYTHING = 100000;

/** The panel, and a function that reads it anew. @param {AbortSignal} signal */
export function profile(signal) {
  const body = el("div", {});
  const words = el("input", { type: "search", name: "known", autocomplete: "off" });
  const chosen = new Map();
  const bulk = button("Forget the chosen", () => forgetAll(chosen, fill), { kind: "danger", hidden: true });
  const choose = (line, on) => {
    if (on) chosen.set(line.memory.memory_id, line);
    else chosen.delete(line.memory.memory_id);
    bulk.hidden = chosen.size === 0;
    bulk.textContent = `Forget ${counted(chosen.size, "memory", "memories")}`;
  };
  let lines = [];
  const draw = () => {
    const asked = words.value.trim().toLowerCase();
    const shown = lines.filter(({ text, memory }) => `${text} ${memory.source.quote ?? ""}`.toLowerCase().includes(asked));
    body.replaceChildren(groups(shown, asked, (line) => sentence(line, chosen.has(line.memory.memory_id), choose, fill)));
  };
  const fill = async () => {
    lines = (await call("GET", "/v1/profile", { query: { max_tokens: EVERYTHING }, signal })).known_lines;
    [...chosen.keys()].forEach((one) => choose({ memory: { memory_id: one } }, false));
    draw();
  };
  words.addEventListener("input", draw);
  return { node: panel("What holds now", el("div", { class: "inline" }, field("Find in it", words), bulk), body), fill };
}

function groups(lines, asked, row) {
  if (lines.length === 0) return asked ? empty("Nothing of that", "Try another word, or Search, which looks at everything.") : empty("Nothing is remembered about you", "When something is, you will see it here.");
  return several(GROUPS.map(([topic, title]) => {
    const own = lines.filter((line) => line.topic === topic);
    return own.length > 0 && el("section", { class: "group" }, el("h3", {}, title), el("ul", { class: "rows" }, own.map(row)));
  }));
}

function sentence(line, isChosen, choose, fill) {
  const { memory } = line, path = `/v1/memories/${encodeURIComponent(memory.memory_id)}`;
  const text = line.text[0].toUpperCase() + line.text.slice(1);
  const box = el("input", { type: "checkbox", checked: isChosen, "aria-label": `Choose: ${text}`, on: { change: () => choose(line, box.checked) } });
  const gone = async () => (await sureToForget(memory)) && (await attempt(() => call("DELETE", path), "Forgotten.")) && fill();
  const said = memory.source.quote && memory.source.quote !== memory.content && el("q", {}, memory.source.quote);
  return el("li", { class: "row" },
    el("div", { class: "known" }, box, el("div", {},
      el("a", { class: "content", href: linkTo("memory", memory.memory_id) }, text),
      el("p", { class: "meta" }, said, memory.source.speaker && el("span", {}, `said by ${memory.source.speaker}`), dated(memory)),
      memory.supersedes.length > 0 && before(path))),
    el("div", { class: "actions" },
      button("Correct", () => correct(path, memory, fill), { kind: "quiet", "aria-label": `Correct: ${text}` }),
      button("Forget", gone, { kind: "quiet danger-text", "aria-label": `Forget: ${text}` })));
}

/** When it is to be, since when it holds, or how old it is. */
function dated(memory) {
  if (memory.occurred_at && new Date(memory.occurred_at) > new Date()) return el("span", {}, `on ${day(memory.occurred_at)}`);
  return memory.valid_from ? el("span", {}, `since ${day(memory.valid_from)}`) : when(memory.occurred_at ?? memory.updated_at);
}

/** What it said before, read when it is opened. */
function before(path) {
  const list = el("ul", { class: "plain" });
  const open = async () => {
    if (!details.open || list.childElementCount > 0) return;
    await attempt(async () => {
      const { earlier } = await call("GET", `${path}/lineage`);
      list.append(several(earlier.map((one) => el("li", {}, el("a", { href: linkTo("memory", one.memory_id) }, one.content), " ", el("span", { class: "quiet" }, `until ${day(one.valid_to ?? one.updated_at)}`)))));
    }, "");
  };
  const details = el("details", { class: "why", on: { toggle: open } }, el("summary", {}, "Was before"), list);
  return details;
}

async function correct(path, memory, fill) {
  const text = el("textarea", { name: "content", rows: "3", required: true, maxlength: "8192" }, memory.content);
  const given = await ask("Correct this memory", field("What it should say", text, "The current text is kept as an earlier version."), { act: "Save" });
  const back = async () => (await attempt(() => call("POST", `${path}/rollback`, { body: { version: memory.version } }), "It says again what it said.")) && fill();
  if (given && (await attempt(() => call("PATCH", path, { body: { content: given.content }, ifMatch: memory.version }), "Corrected.", back))) await fill();
}

async function forgetAll(chosen, fill) {
  const lines = [...chosen.values()];
  const sure = await ask(`Forget ${counted(lines.length, "memory", "memories")}?`, several(el("ul", { class: "plain" }, lines.map((line) => el("li", {}, line.text))), el("p", {}, "They are deleted with all their versions. This cannot be undone.")), { act: "Forget them", kind: "danger" });
  if (!sure) return;
  await attempt(async () => {
    for (const { memory } of lines) await call("DELETE", `/v1/memories/${encodeURIComponent(memory.memory_id)}`);
  }, "Forgotten.");
  await fill();
}
