/** Import: a file of another product, counted first, then taken in piece by piece; it can be stopped and repeated. */

import { call, Problem } from "../api.js";
import { el, several } from "../elements.js";
import { button, choice, facts, failure, field, head, panel, table } from "../parts.js";
import { counted, inWords, number, spaced } from "../words.js";

/** Characters of one piece, so that each is answered within seconds. */
const PIECE = 60_000;
const LARGEST = 1_500_000;
const COUNTS = ["messages", "memories", "recorded", "refreshed", "waiting"];

/** @param {any} context */
export async function show({ signal }) {
  const { formats } = await call("GET", "/v1/uploads/formats", { signal });
  const file = el("input", { type: "file", name: "file", required: true, accept: ".json,.jsonl,.txt,.md,.csv,.af,application/json,text/plain,text/markdown" });
  const format = choice(formats.map((name) => [name, name === "auto" ? "detect it" : name]), { name: "format", value: "auto" });
  const extract = el("input", { type: "checkbox", name: "extract", id: "extract", checked: true });
  const me = el("input", { type: "text", name: "me", maxlength: "200", autocomplete: "off" });
  const shown = el("div", { class: "stack" });
  const begin = async (rehearse) => {
    if (!file.files[0]) return file.reportValidity();
    await run({ file: file.files[0], format: format.value, extract: extract.checked, dry_run: rehearse, ...(me.value.trim() && { me: me.value.trim() }) }, shown, signal);
  };
  const form = el("form", { class: "form", on: { submit: (event) => (event.preventDefault(), begin(false)) } },
    field("File", file, "An export of ChatGPT, Claude, Gemini, Slack, Telegram or WhatsApp, memories of mem0, Letta, Graphiti or LangMem, ShareGPT, Markdown, or chat lines. Unpack a zip first."),
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
    const parts = pieces(await file.text());
    for (const [at, text] of parts.entries()) {
      add(total, await sent({ ...how, name: file.name.slice(0, 128), text }, stop.signal));
      bar.value = (at + 1) / parts.length;
      said.textContent = `Part ${number(at + 1)} of ${number(parts.length)}`;
      if (total.stopped) break;
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
  return panel(cut ? "Stopped" : rehearsed ? "What the file holds" : "Imported",
    el("p", { role: "status" }, rehearsed ? "Nothing has been imported." : cut ? "What was imported so far stays. Import the file again to continue." : "You can find it with Search."),
    facts([
      ["Messages", number(total.messages ?? 0)],
      ["Memories", number(total.memories ?? 0)],
      ["Imported", rehearsed ? null : number(total.recorded ?? 0)],
      ["Already there", total.refreshed ? number(total.refreshed) : null],
      [rehearsed ? "Facts in them, read by rules" : "Remembered from them", sum(total.captured) > 0 ? number(sum(total.captured)) : null],
      ["Waiting for your review", total.waiting ? number(total.waiting) : null],
      ["Not facts", sum(total.left_out) > 0 ? listed(total.left_out) : null],
      ["Left out", sum(total.skipped) > 0 ? listed(total.skipped) : null],
      ["Not allowed", sum(total.blocked) > 0 ? listed(total.blocked) : null],
      ["Stopped because", total.stopped && inWords(total.stopped)],
    ]),
    total.speakers.size > 0 && !total.known && el("p", { role: "note" }, `The file does not say who you are, so nothing was remembered as yours. Enter your name in this chat: ${[...total.speakers].slice(0, 12).join(", ")}.`),
    total.failed.length > 0 && several(el("h3", {}, `${counted(total.failed.length, "place")} could not be read`), table("Places that could not be read", ["Place", "Reason"], total.failed.slice(0, 50).map((one) => [one.place, inWords(one.reason)]))));
}

/** The parts of a file that can be read on their own: some entries of a list, or some lines. @param {string} text */
export function pieces(text) {
  let list = null;
  try {
    list = JSON.parse(text);
  } catch {
    return gathered(text.split(/(?<=\n)/), (lines) => lines.join(""));
  }
  if (Array.isArray(list)) return gathered(list.map((one) => JSON.stringify(one)), (entries) => `[${entries.join(",")}]`);
  if (text.length > LARGEST) throw new Problem(413, "invalid_input:file:too_large", "Use the command line for this file: mnemic import");
  return [text];
}

function gathered(all, joined) {
  const found = [];
  let [some, length] = [[], 0];
  for (const one of all) {
    if (length > 0 && length + one.length > PIECE) {
      found.push(joined(some));
      [some, length] = [[], 0];
    }
    some.push(one);
    length += one.length;
  }
  if (some.length > 0) found.push(joined(some));
  return found;
}
