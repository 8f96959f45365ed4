/** What holds now of the person who is signed in, in groups: each sentence with its proof and age, corrected in place. */

import { call } from "./api.js";
import { changes, opener } from "./acts.js";
import { ask, attempt, button, empty, linked, when } from "./components.js";
import { el, several } from "./dom.js";
import { counted, day, originWords, sentence } from "./labels.js";
import { linkTo, mayOpen, placeNamed } from "./page-list.js";

const GROUPS = [["you", "You"], ["home", "Home"], ["work", "Work"], ["health", "Health"], ["tastes", "Tastes"], ["people", "People"], ["plans", "Plans"]];
/** More than anybody reads; the service cuts by tokens. */
const EVERYTHING = 100000;

/** Ways to something that is remembered, for somebody of whom nothing is. */
export function firstSteps(who) {
  const may = (name) => mayOpen(placeNamed(name), who);
  return el("div", { class: "actions" },
    may("live") && el("a", { class: "button primary", href: linkTo("live") }, "Remember something"),
    may("import") && el("a", { class: "button", href: linkTo("import") }, "Import your chats"));
}

/** The panel, and a function that reads it anew. @param {any} who @param {AbortSignal} signal */
export function profile(who, signal) {
  const body = el("div", {});
  const words = el("input", { type: "search", name: "known", autocomplete: "off", placeholder: "Search your memories", "aria-label": "Search your memories" });
  const chosen = new Map(), short = el("div", { hidden: true }), count = el("p", { class: "quiet", role: "status" });
  const bulk = button("Forget the chosen", () => forgetAll(chosen, fill), { kind: "danger", hidden: true });
  const many = button("Select", () => choosing(!body.classList.contains("choosing")), { "aria-pressed": "false" });
  const choosing = (on) => {
    body.classList.toggle("choosing", on);
    many.setAttribute("aria-pressed", String(on));
    if (!on) chosen.clear();
    draw();
    tally();
  };
  const tally = () => {
    bulk.hidden = chosen.size === 0;
    bulk.textContent = `Forget ${counted(chosen.size, "memory", "memories")}`;
  };
  const choose = (line, on) => {
    if (on) chosen.set(line.memory.memory_id, line);
    else chosen.delete(line.memory.memory_id);
    tally();
  };
  let lines = [];
  const draw = () => {
    const asked = words.value.trim().toLowerCase();
    const shown = lines.filter(({ text, memory }) => `${text} ${memory.source.quote ?? ""}`.toLowerCase().includes(asked));
    bar.hidden = lines.length === 0;
    count.textContent = asked ? `${shown.length} of ${counted(lines.length, "memory", "memories")}` : counted(lines.length, "memory", "memories");
    body.replaceChildren(groups(shown, asked, who, (line) => row(line, chosen.has(line.memory.memory_id), choose, fill)));
  };
  const fill = async () => {
    const known = (await call("GET", "/v1/profile", { query: { max_tokens: EVERYTHING }, signal })).known_lines;
    // What a model wrote is shown as it is, and below it, to be corrected, what it wrote it from.
    const written = known.filter(({ proof }) => proof.length > 0), said = new Map(written.flatMap(({ topic, proof }) => proof.map((memory) => [memory.memory_id, { topic, text: sentence(memory), memory }])));
    lines = [...said.values(), ...known.filter(({ proof }) => proof.length === 0)];
    short.hidden = written.length === 0;
    short.replaceChildren(el("p", {}, written.map(({ text }) => `${text} `)), el("p", { class: "quiet" }, "In short, as a model wrote it from the sentences below. Correct those, and it is written anew."));
    chosen.clear();
    tally();
    draw();
  };
  words.addEventListener("input", draw);
  const bar = el("div", { class: "bar" }, words, count, el("div", { class: "actions" }, bulk, many));
  return { node: el("section", { class: "panel", "aria-label": "What holds now" }, short, bar, body), fill };
}

function groups(lines, asked, who, each) {
  if (lines.length === 0) return asked ? empty("Nothing of that", "Try another word, or Search, which looks at everything.") : empty("Nothing is remembered about you", "Say something as you would to an agent, or bring your chats along.", firstSteps(who));
  return several(GROUPS.map(([topic, title]) => {
    const own = lines.filter((line) => line.topic === topic).sort((one, other) => age(other) - age(one));
    return own.length > 0 && el("section", { class: "group" }, el("h2", {}, title), el("ul", { class: "rows" }, own.map(each)));
  }));
}

function row(line, isChosen, choose, fill) {
  const { memory } = line, path = `/v1/memories/${encodeURIComponent(memory.memory_id)}`;
  const text = line.text[0].toUpperCase() + line.text.slice(1);
  const box = el("input", { type: "checkbox", checked: isChosen, "aria-label": `Choose: ${text}`, on: { change: () => choose(line, box.checked) } });
  const said = memory.source.quote && !memory.source.quote.startsWith(memory.content.replace(/[.!]$/, "")) && el("span", {}, el("q", {}, memory.source.quote));
  // Who said it is worth a word only where it was somebody else.
  const origin = originWords(memory.source, "you", memory.owner);
  const node = el("li", { class: "known" });
  const more = [said, origin !== "said by you" && el("span", {}, origin), memory.supersedes.length > 0 && before(path, memory.supersedes.length)].filter(Boolean);
  node.append(box, linked(memory, text), el("p", { class: "dated" }, dated(memory)), opener(node, text), more.length > 0 ? el("p", { class: "meta" }, more) : "",
    el("div", { class: "actions" }, changes(memory, node, fill, text)));
  return node;
}

const age = ({ memory }) => Date.parse(memory.valid_from ?? memory.occurred_at ?? memory.updated_at);

/** When it is to be, since when it holds, or how old it is. */
function dated(memory) {
  if (memory.occurred_at && new Date(memory.occurred_at) > new Date()) return `on ${day(memory.occurred_at)}`;
  return memory.valid_from ? `since ${day(memory.valid_from)}` : several("said ", when(memory.occurred_at ?? memory.updated_at));
}

/** What it said before, read when it is opened. */
function before(path, count) {
  const list = el("ul", { class: "plain" });
  const open = async () => {
    if (!details.open || list.childElementCount > 0) return;
    await attempt(async () => {
      const { earlier } = await call("GET", `${path}/lineage`);
      list.append(several(earlier.map((one) => el("li", {}, linked(one), " ", el("span", { class: "quiet" }, `until ${day(one.valid_to ?? one.updated_at)}`)))));
    }, "");
  };
  const details = el("details", { on: { toggle: open } }, el("summary", {}, counted(count, "earlier version")), list);
  return details;
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
