/** Import: a file of another product, looked into first, then taken in piece by piece; it can be stopped, repeated and taken back. */

import { call, Problem } from "../api.js";
import { textsOf } from "../archive.js";
import { el, several } from "../dom.js";
import { attempt, badge, button, choice, facts, failure, field, head, linked, panel, table } from "../components.js";
import { linkTo } from "../page-list.js";
import { counted, inWords, number, sentence, spaced } from "../labels.js";

/** Bytes of one piece; a value that cannot be cut, such as a whole account, may have LARGEST. */
const PIECE = 400_000;
const LARGEST = 1_500_000;
/** Entries of a piece that one request takes in, so that each is answered within seconds. */
const AT_ONCE = 60;
const COUNTS = ["messages", "memories", "recorded", "refreshed", "waiting"];

const NAMES = { auto: "Detect it", chatgpt: "ChatGPT", claude: "Claude", gemini: "Gemini", whatsapp: "WhatsApp", slack: "Slack", telegram: "Telegram", discord: "Discord", claude_code: "Claude Code", codex: "Codex", open_webui: "Open WebUI", librechat: "LibreChat", sillytavern: "SillyTavern", openmemory: "OpenMemory", mcp_memory: "MCP memory server", mem0: "mem0", letta: "Letta", langmem: "LangMem", graphiti: "Zep, Graphiti", sharegpt: "ShareGPT", markdown: "Markdown notes", csv: "Table (CSV)", transcript: "Transcript", chat: "Chat lines", archive: "mnemic archive", mnemic: "mnemic export" };

/** @param {any} context */
export async function show({ signal }) {
  const { formats } = await call("GET", "/v1/uploads/formats", { signal });
  const file = el("input", { type: "file", name: "file", required: true, accept: ".zip,.json,.jsonl,.txt,.md,.csv,.af,application/zip,application/json,text/plain,text/markdown" });
  const format = choice(formats.map((name) => [name, NAMES[name] ?? spaced(name)]), { name: "format", value: "auto" });
  const extract = el("input", { type: "checkbox", name: "extract", id: "extract", checked: true });
  const people = el("datalist", { id: "people" });
  const me = el("input", { type: "text", name: "me", maxlength: "200", autocomplete: "off", list: "people" });
  const asked = el("div", { hidden: true }, field("Your name in this chat", me, "The file does not say which of the people in it you are, and only what you said yourself becomes a fact about you."), people);
  const shown = el("div", { class: "stack" });
  let counting = new AbortController(), unknown = null;
  const begin = async (rehearse) => {
    if (!file.files[0]) return file.reportValidity();
    if (!rehearse && unknown === file.files[0] && extract.checked && !me.value.trim()) {
      me.setCustomValidity("Say who you are, or leave out what you stated.");
      return me.reportValidity();
    }
    counting.abort();
    counting = new AbortController();
    signal.addEventListener("abort", () => counting.abort());
    const total = await run({ file: file.files[0], format: format.value, extract: extract.checked, dry_run: rehearse, ...(me.value.trim() && { me: me.value.trim() }) }, shown, counting);
    if (!total || !total.speakers.size || total.known) return;
    unknown = file.files[0];
    people.replaceChildren(...[...total.speakers].map((name) => el("option", { value: name })));
    asked.hidden = false;
    if (rehearse) me.focus();
  };
  me.addEventListener("input", () => me.setCustomValidity(""));
  me.addEventListener("change", () => me.value.trim() && begin(true));
  file.addEventListener("change", () => (asked.hidden = true, me.value = "", unknown = null, begin(true)));
  const form = el("form", { class: "form", on: { submit: (event) => (event.preventDefault(), begin(false)) } },
    field("File", file, "An export of ChatGPT, Claude, Gemini, Slack, Telegram or WhatsApp, memories of mem0, Letta, Graphiti or LangMem, notes, or chat lines. The zip of an export as it is."),
    asked,
    el("p", { class: "check" }, extract, el("label", { for: "extract" }, "Remember what I state in the messages, not only the messages themselves")),
    el("details", {}, el("summary", {}, "The format is wrong?"), field("Format", format)),
    el("div", { class: "actions" }, el("button", { type: "submit", class: "button primary" }, "Import")));
  return several(head("Import", "Bring your conversations along. Choose a file to see what would be kept; nothing is stored before you press Import."), panel(null, form), shown);
}

/** Send a file piece by piece, and show what came of it; returns that, or null where it was left or failed. */
async function run({ file, ...how }, shown, stop) {
  const bar = el("progress", { max: "1", value: "0", "aria-label": "Progress" });
  const said = el("p", { class: "quiet", role: "status" }, "Reading the file…");
  shown.replaceChildren(panel(how.dry_run ? "Looking into the file" : "Importing", bar, said, el("div", { class: "actions" }, button("Stop", () => stop.abort()))));
  const total = { failed: [], skipped: {}, left_out: {}, captured: {}, blocked: {}, learnt: [], stopped: null, import_id: null, speakers: new Set(), known: false };
  const tell = (cut) => shown.replaceChildren(summary(total, how.dry_run, cut, shown));
  try {
    const parts = (await textsOf(file)).flatMap(({ name, text }) => pieces(text).map((piece) => ({ name, text: piece })));
    for (const [at, one] of parts.entries()) {
      for (let start = 0, entries = 1; start < entries && !total.stopped; start += AT_ONCE) {
        const part = await sent({ ...how, ...one, start, most: AT_ONCE, ...(total.import_id && { import_id: total.import_id }) }, stop.signal);
        entries = part.entries;
        add(total, part);
        const done = Math.min(1, (start + AT_ONCE) / Math.max(1, entries));
        bar.value = (at + done) / parts.length;
        said.textContent = `${number(Math.round(100 * bar.value))} % of the file`;
      }
    }
    tell(false);
    return total;
  } catch (problem) {
    if (stop.signal.aborted) return how.dry_run ? null : (tell(true), null);
    shown.replaceChildren(failure(problem), total.messages + total.memories > 0 ? summary(total, how.dry_run, true, shown) : "");
    return null;
  }
}

/** One piece; what took too long is sent again, since what is done is not done twice. */
async function sent(body, signal, tries = 3) {
  try {
    return await call("POST", "/v1/uploads", { body, signal });
  } catch (problem) {
    const passing = problem instanceof Problem && (problem.status === 429 || problem.status >= 502);
    if (!passing || tries <= 1) throw problem;
    await new Promise((resolve) => setTimeout(resolve, 1500));
    return sent(body, signal, tries - 1);
  }
}

function add(total, part) {
  for (const name of COUNTS) total[name] = (total[name] ?? 0) + part[name];
  for (const name of ["skipped", "left_out", "captured", "blocked"]) {
    for (const [reason, count] of Object.entries(part[name])) total[name][reason] = (total[name][reason] ?? 0) + count;
  }
  total.failed.push(...part.failed);
  total.learnt.push(...part.learnt);
  for (const one of part.speakers) total.speakers.add(one);
  total.known ||= part.messages > 0 && part.speakers.length === 0;
  total.stopped = part.stopped;
  total.import_id = part.import_id ?? total.import_id;
}

const SKIPPED = { small_talk: "small talk", system_message: "notices of the app", media: "pictures and files", other_branch: "other versions of an answer", empty: "empty" };

function summary(total, rehearsed, cut, shown) {
  const sum = (counts) => Object.values(counts).reduce((all, one) => all + one, 0);
  const listed = (counts, words = inWords) => Object.entries(counts).map(([name, count]) => `${number(count)} × ${words(name)}`).join("; ");
  const unknown = total.speakers.size > 0 && !total.known, learnt = sum(total.captured);
  const back = async () => {
    const done = ({ forgotten, restored }) => `Taken back: ${counted(forgotten.length, "memory is", "memories are")} forgotten${restored.length > 0 ? `, ${number(restored.length)} as before` : ""}.`;
    if (await attempt(() => call("POST", `/v1/imports/${encodeURIComponent(total.import_id)}/undo`), done)) shown.replaceChildren();
  };
  return panel(cut ? "Stopped" : rehearsed ? "What the file contains" : "Imported",
    el("p", { role: "status" }, rehearsed ? "Nothing has been imported." : cut ? "What was imported so far stays. Import the file again to continue." : `${counted(total.recorded ?? 0, "message or memory is", "messages and memories are")} kept${learnt > 0 ? `, and ${counted(learnt, "fact was", "facts were")} learnt from them` : ""}.`),
    unknown && el("p", { role: "note", class: "note" }, `The file does not say who you are, so nothing is remembered as yours. Enter your name in this chat: ${[...total.speakers].slice(0, 12).join(", ")}.`),
    total.learnt.length > 0 && several(el("h3", {}, rehearsed ? "Facts that would be kept" : "What was learnt"), el("ul", { class: "rows learnt" }, total.learnt.slice(0, 100).map((one) => el("li", {},
      one.memory_id ? linked(one) : el("span", { class: "content" }, sentence(one)),
      one.change === "waits" && badge("pending_review"),
      one.was.length > 0 && el("span", { class: "quiet" }, ` was ${one.was.join(", ")}`))))),
    facts([
      ["Messages", total.messages ? number(total.messages) : null],
      ["Memories", total.memories ? number(total.memories) : null],
      ["Already there", total.refreshed ? number(total.refreshed) : null],
      ["Waiting for your review", total.waiting ? number(total.waiting) : null],
      ["No facts", sum(total.left_out) > 0 ? listed(total.left_out) : null],
      ["Left out", sum(total.skipped) > 0 ? listed(total.skipped, (name) => SKIPPED[name] ?? spaced(name)) : null],
      ["Not allowed", sum(total.blocked) > 0 ? listed(total.blocked, spaced) : null],
      ["Stopped because", total.stopped && inWords(total.stopped)],
    ]),
    total.failed.length > 0 && several(el("h3", {}, `${counted(total.failed.length, "place")} could not be read`), table("Places that could not be read", ["Place", "Reason"], total.failed.slice(0, 50).map((one) => [one.place, inWords(one.reason)]))),
    !rehearsed && el("div", { class: "actions" }, el("a", { class: "button primary", href: linkTo("mine") }, "See what is known now"), total.import_id && button("Take this import back", back)));
}

const HEAD_OF_MESSAGE = /^\u200e?\[?\p{Nd}{1,4}\P{Nd}{1,3}\p{Nd}{1,2}\P{Nd}{1,3}\p{Nd}{1,4}/u;
const BYTES = new TextEncoder();
const size = (text) => BYTES.encode(text).length;

/** The parts of a file that can be read on their own: entries of a list, lines of JSON, messages of a chat, paragraphs. @param {string} text */
export function pieces(text) {
  let whole = null;
  try {
    whole = JSON.parse(text);
  } catch {
    return gathered(cut(text), (some) => some.join(""));
  }
  if (Array.isArray(whole)) return gathered(whole.map((one) => JSON.stringify(one)), (entries) => `[${entries.join(",")}]`);
  if (size(text) > LARGEST) throw new Problem(413, "invalid_input:file:too_large", "Use the command line for this file: mnemic import");
  return [text];
}

/** A text in parts that each begin something: a value, a message with its date, or what follows an empty line. */
function cut(text) {
  const lines = text.split(/(?<=\n)/);
  if (lines[0].startsWith("{")) return lines;
  const dated = HEAD_OF_MESSAGE.test(lines[0]);
  const found = [];
  for (const [at, line] of lines.entries()) {
    const begins = at === 0 || (dated ? HEAD_OF_MESSAGE.test(line) : lines[at - 1].trim() === "");
    if (begins) found.push([line]);
    else found.at(-1).push(line);
  }
  return found.map((one) => one.join(""));
}

function gathered(all, joined) {
  const found = [];
  let [some, length] = [[], 0];
  for (const one of all) {
    const bytes = size(one);
    if (length > 0 && length + bytes > PIECE) {
      found.push(joined(some));
      [some, length] = [[], 0];
    }
    some.push(one);
    length += bytes;
  }
  if (some.length > 0) found.push(joined(some));
  return found;
}
