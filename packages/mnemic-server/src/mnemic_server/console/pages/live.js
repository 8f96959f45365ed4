/** Live: a message as somebody would send it to an agent; what is kept of it, what that ends, and what a model would get. */

import { call, sender } from "../api.js";
import { el, several } from "../dom.js";
import { attempt, badge, button, choice, empty, failure, field, head, linked, MARKER, markerWords, masked, panel, say, sureToForget } from "../components.js";
import { linkTo } from "../page-list.js";
import { rating, ratings } from "../rating.js";
import { counted, inWords, number, spaced, statusWords, whyWords } from "../labels.js";

const TRY = ["I moved to Bergen last week, and I am a vegetarian now.", "My card number is 4111 1111 1111 1111.", "Where do I live?", "Forget what I said about my hotel."];
const KINDS = [["long_term", "a fact: true until changed"], ["episodic", "an event"]];
const path = (memoryId) => `/v1/memories/${encodeURIComponent(memoryId)}`;

/** @param {any} context */
export function show({ signal }) {
  const words = el("textarea", { name: "message", rows: "4", required: true, maxlength: "8192", autofocus: true, placeholder: "I moved to Bergen last week." });
  const preview = el("p", { class: "hint", "aria-live": "polite" });
  const said = el("ol", { class: "said" }), shown = el("div", { class: "stack", "aria-live": "polite" });
  const [capture, add] = [sender("/v1/capture"), sender("/v1/memories")];
  const exact = wordForWord();
  const mask = async (content) => (await call("POST", "/v1/redactions", { body: { text: content }, signal })).text;
  let typing = 0;
  words.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(async () => {
      const content = words.value, kept = content.trim() && (await mask(content).catch(() => content));
      if (words.value === content) preview.replaceChildren(...(MARKER.test(kept) ? ["It would be kept as: ", masked(kept)] : []));
    }, 400);
  });
  const send = async () => {
    const content = words.value.trim();
    if (!content) return words.reportValidity();
    const line = el("li", {}, content, el("p", { class: "quiet", role: "status" }, "Reading…"));
    said.prepend(line);
    try {
      const report = exact.node.open ? { receipts: [await add({ content, ...exact.fields() })] } : await capture({ content });
      // What is typed while the answer is on its way is the next message.
      if (words.value.trim() === content) {
        form.reset();
        preview.replaceChildren();
      }
      talk.classList.add("sent");
      words.placeholder = "Another message";
      line.replaceChildren(masked(await mask(content)));
      await tell(report, content, line);
    } catch (problem) {
      if (signal.aborted) return;
      line.remove();
      shown.replaceChildren(failure(problem, send));
    }
  };
  const tell = async (report, content, line) => {
    const written = await Promise.all(report.receipts.filter((one) => one.memory_id).map((receipt) => statement(receipt, signal)));
    const prompt = el("div", { class: "prompt" }, el("p", { class: "quiet" }, "Reading…"));
    const fillPrompt = async () => prompt.replaceChildren(await block(content, signal));
    // A value and the sentence that it is read from are one thing said: neither goes alone.
    const each = written.map((one) => row(one, async () => {
      for (const other of [...each].reverse()) if (overlap(one.memory, other.memory)) await other.undo?.();
    }, fillPrompt));
    const undoAll = async () => {
      for (const one of [...each].reverse()) await one.undo?.();
      all.remove();
      say("All of it is taken back.");
      await fillPrompt();
    };
    const all = each.filter((one) => one.undo).length > 1 && button("Undo all of it", undoAll, { kind: "quiet" });
    const panels = [
      panel("What was read from it", each.length > 0 ? el("ul", { class: "rows" }, each.map((one) => one.node)) : el("p", { class: "quiet" }, "Nothing is kept of it."), each.length > 0 && el("div", { class: "foot-line" }, steps(written), all)),
      ...[heldBack(report, written), requests(report.asked ?? [], fillPrompt)].filter(Boolean),
      panel("What a model gets with this message", prompt),
    ];
    shown.replaceChildren(...panels);
    line.append(button(consequences(report).join(" · "), () => shown.replaceChildren(...panels), { kind: "quiet" }));
    await fillPrompt();
  };
  words.addEventListener("keydown", (event) => event.key === "Enter" && !event.shiftKey && (event.preventDefault(), send()));
  const form = el("form", { class: "form", on: { submit: (event) => (event.preventDefault(), send()) } },
    field("A message", words, "Enter sends it. What is read from it is kept, until you undo it here."), preview, exact.node,
    el("div", { class: "actions" }, el("button", { type: "submit", class: "button primary" }, "Send")));
  const tries = el("div", { class: "tries" }, TRY.map((text) => button(text, () => (words.value = text, words.focus(), words.dispatchEvent(new Event("input"))), { kind: "quiet" })));
  shown.append(el("div", { class: "panel" }, empty("Say something", "What is read from it, what it replaces, what is held back, and the text that a model would get appear here. Or take one of these:", tries)));
  const talk = el("div", { class: "talk" }, el("div", { class: "panel" }, form, said), shown);
  return several(head("Live", "Say what a person would say to an agent, and see what becomes of it."), talk);
}

/** A new memory that replaced another is new. */
const outcomeOf = (receipt) => (receipt.outcome === "superseded" ? "created" : receipt.outcome);

/** How many statements ended in each way, as the list beside says of each; nothing else is counted. */
function consequences({ receipts, asked = [] }) {
  const kept = receipts.filter((one) => one.memory_id), ended = kept.reduce((sum, one) => sum + one.superseded.length, 0);
  const counts = [...new Set(kept.map(outcomeOf))].map((outcome) => `${number(kept.filter((one) => outcomeOf(one) === outcome).length)} ${statusWords(outcome)}`);
  return [...(counts.length > 0 ? counts : ["nothing kept"]), ended > 0 && `${number(ended)} replaced`, asked.length > 0 && "asks something of memory"].filter(Boolean);
}

/** The choice to keep a text as it is, under a key and for a time, without reading anything from it. */
function wordForWord() {
  const key = el("input", { name: "key", maxlength: "128", autocomplete: "off" });
  const kind = choice(KINDS, { name: "kind" });
  const days = el("input", { type: "number", name: "days", min: "1", max: "365" });
  const node = el("details", {}, el("summary", {}, "Keep it word for word"), el("div", { class: "columns" },
    field("Kind", kind),
    field("Key (optional)", key, "Each key holds one memory: a new one replaces the old one."),
    field("For how many days (optional)", days)));
  return { node, fields: () => ({ kind: kind.value, ...(key.value ? { key: key.value } : {}), ...(days.value ? { ttl: `${Number(days.value)}d` } : {}) }) };
}

/** A receipt with the memory that it is about, and those that this one replaced. */
async function statement(receipt, signal) {
  const { memory, earlier } = await call("GET", `${path(receipt.memory_id)}/lineage`, { signal });
  return { receipt, memory, ended: earlier.filter((one) => receipt.superseded.includes(one.memory_id)) };
}

/** Whether two memories were read from the same words of a message, or are one. */
function overlap(one, other) {
  const [a, b] = [one.source.span, other.source.span];
  return one.memory_id === other.memory_id || Boolean(a && b && a[0] < b[1] && b[0] < a[1]);
}

/** A statement as it is kept, what it ends, and how to take it back, with what was `taken` from the same words; `undo` is null where nothing new was kept. */
function row({ receipt, memory, ended }, taken, changed) {
  const state = el("span", {}, badge(outcomeOf(receipt)));
  const undo = async () => {
    if (!back.isConnected || !(await attempt(() => (receipt.superseded.length > 0 ? call("POST", `${path(memory.memory_id)}/undo`) : call("DELETE", path(memory.memory_id))), ""))) return;
    back.remove();
    node.classList.add("undone");
    state.replaceChildren(badge("undone"));
  };
  const alone = async () => (await taken(), say(ended.length > 0 ? `It says again: ${ended[0].content}` : "It is forgotten."), await changed());
  const back = ["created", "superseded", "merged"].includes(receipt.outcome) && button("Undo", alone, { kind: "quiet", "aria-label": `Undo: ${memory.content}` });
  const node = el("li", { class: "row read" },
    el("div", {},
      linked(memory),
      el("p", { class: "meta" }, state, ended.map((old) => el("span", {}, "replaces ", el("del", {}, masked(old.content)))), receipt.reason && el("span", {}, inWords(receipt.reason)))),
    back);
  return { node, memory, undo: back ? undo : null };
}

/** What each step of reading and deciding did with each statement. */
function steps(written) {
  return el("details", {}, el("summary", {}, "What each step decided"), written.map(({ receipt, memory }) => several(
    written.length > 1 && el("h3", {}, masked(memory.content)),
    el("ol", { class: "steps" }, receipt.steps.map((step) => el("li", {}, el("strong", {}, spaced(step.name)), ` ${spaced(step.decision)} `, el("span", { class: "quiet" }, `${step.ms} ms`)))))));
}

const MASKED = { card: "card number", email: "mail address", phone: "phone number", secret: "password or key", iban: "bank account" };

/** What was masked, refused, or not taken for something to keep; null: nothing was. */
function heldBack({ receipts, skipped = [], blocked = [], errors = [] }, written) {
  const refused = [...blocked, ...receipts.filter((one) => ["blocked", "failed"].includes(one.outcome))].map((one) => `Not kept${one.key ? ` under ${spaced(one.key)}` : ""}: ${inWords(one.reason)}`);
  const markers = new Set(written.flatMap(({ memory }) => memory.content.match(new RegExp(MARKER, "g")) ?? []));
  const lines = [
    ...[...new Set([...markers].map(markerWords))].map((word) => `The ${MASKED[word] ?? word} is not stored: the rules for private data keep none, so a placeholder stands in its place.`),
    ...refused,
    ...skipped.filter(({ reason }) => reason !== "memory_request").map(({ reason }) => `A part is not kept: ${inWords(reason)}.`),
    ...receipts.flatMap((one) => one.clamped.map((limit) => `Limited by policy: ${spaced(limit)}.`)),
    ...[...errors, ...receipts.flatMap((one) => [...one.warnings, ...one.degraded])].map(inWords),
  ];
  return lines.length > 0 && panel("What was held back, and why", el("ul", { class: "rows" }, lines.map((text) => el("li", {}, text))));
}

/** What the message asks of memory itself; it is done only here, when it is confirmed. */
function requests(asked, changed) {
  const rows = asked.map((one) => {
    const done = async () => (await attempt(() => call("POST", "/v1/memory-requests", { body: one }), "Done.")) && (node.classList.add("undone"), act.remove(), await changed());
    const sure = async () => (one.kind === "forget_all" ? (location.hash = linkTo("mine")) : (await sureToForget({ content: `${one.subject}: ${counted(one.memory_ids.length, "memory", "memories")}` })) && done());
    const act = one.kind === "show" ? el("a", { class: "button quiet", href: linkTo("mine") }, "My memory") : one.memory_ids.length > 0 && button(one.kind === "wrong" ? "Yes, forget it" : "Forget it", sure, { kind: "danger" });
    const node = el("li", { class: "row" }, el("p", {}, `${{ show: "Show what is known", forget: "Forget", forget_all: "Forget everything", wrong: "This is wrong" }[one.kind] ?? spaced(one.kind)}${one.subject ? `: ${one.subject}` : ""}`, el("span", { class: "quiet" }, ` (${counted(one.memory_ids.length, "memory", "memories")})`)), act);
    return node;
  });
  return rows.length > 0 && panel("What it asks of memory", el("p", { class: "quiet" }, "An agent asks before it does this."), el("ul", { class: "rows" }, rows));
}

/** The text that is put before a model for a message, its tokens, and the memory behind each entry. */
async function block(query, signal) {
  const made = await call("POST", "/v1/context", { body: { query }, signal });
  if (!made.text) return el("p", { class: "quiet" }, "Nothing: no memory bears on it.");
  const [{ runs }, rated] = await Promise.all([call("GET", "/v1/runs", { query: { limit: 10 }, signal }), ratings(signal)]);
  const run = runs.find((one) => one.block_sha256 === made.digest);
  return several(
    el("p", { class: "meta" }, run && el("span", {}, el("strong", {}, number(run.tokens)), " tokens"), el("span", {}, counted(made.hits.length, "memory", "memories")), run?.ms && el("span", {}, `${number(Math.round(run.ms))} ms`)),
    el("ul", { class: "rows" }, made.hits.map(({ memory, why }) => el("li", { class: "row used" }, el("div", {}, linked(memory), el("p", { class: "meta" }, whyWords(why))), rating(memory, rated.get(memory.memory_id))))),
    el("details", {}, el("summary", {}, "The exact text"), el("pre", { class: "block", tabindex: "0" }, made.text)));
}
