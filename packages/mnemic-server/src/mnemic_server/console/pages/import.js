/** Import: a file of another product, counted first, then taken in piece by piece; it can be stopped and repeated. */

import { call, Problem } from "../api.js";
import { textsOf } from "../archive.js";
import { el, several } from "../dom.js";
import { button, choice, facts, failure, field, head, panel, table } from "../components.js";
import { counted, inWords, number, spaced } from "../labels.js";

/** Bytes of one piece; a value that cannot be cut, such as a whole account, may have LARGEST. */
const PIECE = 400_000;
const LARGEST = 1_500_000;
/** Entries of a piece that one request takes in, so that each is answered within seconds. */
const AT_ONCE = 60;
const COUNTS = ["messages", "memories", "recorded", "refreshed", "waiting"];

/** @param {any} context */
export async function show({ signal }) {
  const { formats } = await call("GET", "/v1/uploads/formats", { signal });
  const file = el("input", { type: "file", name: "file", required: true, accept: ".zip,.json,.jsonl,.txt,.md,.csv,.af,application/zip,application/json,text/plain,text/markdown" });
  const format = choice(formats.map((name) => [name, name === "auto" ? "detect it" : name]), { name: "format", value: "auto" });
  const extract = el("input", { type: "checkbox", name: "extract", id: "extract", checked: true });
  const me = el("input", { type: "text", name: "me", maxlength: "200", autocomplete: "off" });
  const shown = el("div", { class: "stack" });
  const begin = async (rehearse) => {
    if (!file.files[0]) return file.reportValidity();
    await run({ file: file.files[0], format: format.value, extract: extract.checked, dry_run: rehearse, ...(me.value.trim() && { me: me.value.trim() }) }, shown, signal);
  };
  const form = el("form", { class: "form", on: { submit: (event) => (event.preventDefault(), begin(false)) } },
    field("File", file, "An export of ChatGPT, Claude, Gemini, Slack, Telegram or WhatsApp, memories of mem0, Letta, Graphiti or LangMem, ShareGPT, Markdown, or chat lines; the zip of an export as it is."),
    field("Format", format),
    field("Your name in this chat", me, "Only needed for a chat that does not say who you are: a group, Slack, or WhatsApp's _chat.txt."),
    el("p", { class: "check" }, extract, el("label", { for: "extract" }, "Remember what I state in the messages, not only the messages themselves")),
    el("div", { class: "actions" }, el("button", { type: "submit", class: "button primary" }, "Import"), button("Count only", () => begin(true))));
  return several(head("Import", "Bring in conversations and memories you already have. Importing a file twice changes nothing."), panel(null, form), shown);
}

async function run({ file, ...how }, shown, signal) {
  const stop = new AbortController();
  signal.addEventListener("abort", () => stop.abort());
  const bar = el("progress", { max: "1", value: "0", "aria-label": "Progress" });
  const said = el("p", { class: "quiet", role: "status" }, "Reading the file…");
  shown.replaceChildren(panel(how.dry_run ? "Counting" : "Importing", bar, said, el("div", { class: "actions" }, button("Stop", () => stop.abort()))));
  const total = { failed: [], skipped: {}, left_out: {}, captured: {}, blocked: {}, stopped: null, speakers: new Set(), known: false };
  try {
    const parts = (await textsOf(file)).flatMap(({ name, text }) => pieces(text).map((piece) => ({ name, text: piece })));
    for (const [at, one] of parts.entries()) {
      for (let start = 0, entries = 1; start < entries && !total.stopped; start += AT_ONCE) {
        const part = await sent({ ...how, ...one, start, most: AT_ONCE }, stop.signal);
        entries = part.entries;
        add(total, part);
        const done = Math.min(1, (start + AT_ONCE) / Math.max(1, entries));
        bar.value = (at + done) / parts.length;
        said.textContent = `${number(Math.round(100 * bar.value))} % of the file`;
      }
    }
    shown.replaceChildren(summary(total, how.dry_run, false));
  } catch (problem) {
    if (signal.aborted) return;
    if (stop.signal.aborted) return shown.replaceChildren(summary(total, how.dry_run, true));
    shown.replaceChildren(failure(problem), total.messages + total.memories > 0 ? summary(total, how.dry_run, true) : "");
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
  for (const one of part.speakers) total.speakers.add(one);
  total.known ||= part.messages > 0 && part.speakers.length === 0;
  total.stopped = part.stopped;
}

function summary(total, rehearsed, cut) {
  const sum = (counts) => Object.values(counts).reduce((all, one) => all + one, 0);
  const listed = (counts) => Object.entries(counts).map(([name, count]) => `${number(count)} ${spaced(name)}`).join(", ");
  return panel(cut ? "Stopped" : rehearsed ? "What the file contains" : "Imported",
    el("p", { role: "status" }, rehearsed ? "Nothing has been imported." : cut ? "What was imported so far stays. Import the file again to continue." : "You can find it with Search."),
    facts([
      ["Messages", number(total.messages ?? 0)],
      ["Memories", number(total.memories ?? 0)],
      ["Imported", rehearsed ? null : number(total.recorded ?? 0)],
      ["Already there", total.refreshed ? number(total.refreshed) : null],
      [rehearsed ? "Facts found in them by rules" : "Remembered from them", sum(total.captured) > 0 ? number(sum(total.captured)) : null],
      ["Waiting for your review", total.waiting ? number(total.waiting) : null],
      ["Not facts", sum(total.left_out) > 0 ? listed(total.left_out) : null],
      ["Left out", sum(total.skipped) > 0 ? listed(total.skipped) : null],
      ["Not allowed", sum(total.blocked) > 0 ? listed(total.blocked) : null],
      ["Stopped because", total.stopped && inWords(total.stopped)],
    ]),
    total.speakers.size > 0 && !total.known && el("p", { role: "note" }, `The file does not say who you are, so nothing was remembered as yours. Enter your name in this chat: ${[...total.speakers].slice(0, 12).join(", ")}.`),
    total.failed.length > 0 && several(el("h3", {}, `${counted(total.failed.length, "place")} could not be read`), table("Places that could not be read", ["Place", "Reason"], total.failed.slice(0, 50).map((one) => [one.place, inWords(one.reason)]))));
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
