/** Live: a message as somebody would send it to an agent; what is kept of it, what that ends, and what a model would get. */

import { acts } from "../acts.js";
import { call, sender } from "../api.js";
import { el, several } from "../dom.js";
import { attempt, badge, button, choice, empty, failure, field, head, linked, MARKER, markerWords, masked, panel, say, sureToForget } from "../components.js";
import { linkTo } from "../page-list.js";
import { ratings } from "../rating.js";
import { counted, inWords, number, sentence, spaced, statusWords, whyWords } from "../labels.js";

const TRY = ["I moved to Bergen last week, and I am a vegetarian now.", "My card number is 4111 1111 1111 1111.", "Where do I live?", "Forget what I said about my hotel."];
const KINDS = [["long_term", "a fact: true until changed"], ["episodic", "an event"]];
const path = (memoryId) => `/v1/memories/${encodeURIComponent(memoryId)}`;

/** @param {any} context */
export function show({ signal }) {
  const words = el("textarea", { name: "message", rows: "4", required: true, maxlength: "8192", autofocus: true, placeholder: "I moved to Bergen last week." });
  const preview = el("p", { class: "hint", "aria-live": "polite" });
  const said = el("ol", { class: "said" }), [read, held, gets] = ["read-part", "held-part", "gets-part"].map((part) => el("div", { class: `stack ${part}`, "aria-live": "polite" }));
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
      const report = exact.node.open ? { receipts: [await add({ content, ...exact.fields() })] } : await capture({ message: content });
      // What is typed while the answer is on its way is the next message.
      if (words.value.trim() === content) {
        form.reset();
        preview.replaceChildren();
      }
      talk.classList.add("sent");
      words.placeholder = "Another message";
      const masking = mask(content);
      line.replaceChildren(masked(await masking));
      await tell(report, content, line, masking);
    } catch (problem) {
      if (signal.aborted) return;
      line.remove();
      read.replaceChildren(failure(problem, send));
    }
  };
  const tell = async (report, content, line, masking) => {
    const written = await Promise.all(report.receipts.filter((one) => one.memory_id).map((receipt) => statement(receipt, signal)));
    const prompt = el("div", { class: "prompt" }, el("p", { class: "quiet" }, "Reading…"));
    const fresh = new Set(written.map(({ memory }) => memory.memory_id));
    const fillPrompt = async () => prompt.replaceChildren(await block(content, signal, fresh, fillPrompt));
    const each = together(written, (one) => one.memory).map((some) => row(some, fillPrompt));
    const undoAll = async () => {
      for (const one of [...each].reverse()) await one.undo?.();
      all.remove();
      say("All of it is taken back.");
      await fillPrompt();
    };
    const all = each.filter((one) => one.undo).length > 1 && button("Undo all of it", undoAll);
    const aside = [heldBack(report, await masking), requests(report.asked ?? [], fillPrompt)].filter(Boolean), panels = [
      panel("What was read from it", each.length > 0 ? el("ul", { class: "rows" }, each.map((one) => one.node)) : el("p", { class: "quiet" }, "Nothing is kept of it."), each.length > 0 && el("div", { class: "foot-line" }, steps(written), all)),
      panel("What a model gets with this message", prompt),
    ];
    const show = () => (held.replaceChildren(...aside), read.replaceChildren(panels[0]), gets.replaceChildren(panels[1]));
    show();
    line.append(button(consequences(report, each).join(" · "), show, { kind: "quiet" }));
    await fillPrompt();
  };
  words.addEventListener("keydown", (event) => event.key === "Enter" && !event.shiftKey && (event.preventDefault(), send()));
  const form = el("form", { class: "form", on: { submit: (event) => (event.preventDefault(), send()) } },
    field("A message", words, several(el("span", { class: "keys" }, "Enter sends it. "), "It is kept until you undo it.")), preview,
    el("div", { class: "actions" }, el("button", { type: "submit", class: "button primary" }, "Send"), exact.node));
  const tries = el("div", { class: "tries" }, TRY.map((text) => button(text, () => (words.value = text, words.focus(), words.dispatchEvent(new Event("input"))), { kind: "quiet" })));
  read.append(el("div", { class: "panel" }, empty("Say something", "What is read from it, what it replaces, what is held back, and the text that a model would get appear here. Or take one of these:", tries)));
  const talk = el("div", { class: "talk" }, el("div", { class: "stack" }, el("div", { class: "panel" }, form, said), held), el("div", { class: "stack" }, read, gets));
  return several(head("Live", "Write as you would to an assistant, and see what is remembered."), talk);
}

/** A new memory that replaced another is new. */
const outcomeOf = (receipt) => (receipt.outcome === "superseded" ? "created" : receipt.outcome);

/** How many facts ended in each way; a value counts with the sentence that it is read from. */
function consequences({ receipts, asked = [] }, each) {
  const ended = receipts.reduce((sum, one) => sum + (one.memory_id ? one.superseded.length : 0), 0);
  const counts = [...new Set(each.map((one) => one.outcome))].map((outcome) => `${number(each.filter((one) => one.outcome === outcome).length)} ${statusWords(outcome)}`);
  return [...(counts.length > 0 ? counts : ["nothing kept"]), ended > 0 && (ended === 1 ? "an older one replaced" : `${number(ended)} older ones replaced`), asked.length > 0 && "asks something of memory"].filter(Boolean);
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

/** Whether two memories were read from the same words of one message: a value, the sentence it stands in, and who or what that names. */
function overlap(one, other) {
  const [a, b] = [one.source.span, other.source.span], apart = Math.abs(Date.parse(one.created_at) - Date.parse(other.created_at));
  return one.memory_id === other.memory_id || (apart < 5000 && Boolean(a && b && a[0] < b[1] && b[0] < a[1]));
}

/** What belongs together, each group with the one first that is a whole sentence; who or what is named stands with the first sentence that names it. */
function together(all, memoryOf) {
  let groups = [];
  const is = (kind) => (one) => (memoryOf(one).kind === "entity") === kind;
  for (const one of all.filter(is(false))) {
    const near = groups.filter((group) => group.some((other) => overlap(memoryOf(one), memoryOf(other)))), joined = [...near.flat(), one];
    groups = near.length === 0 ? [...groups, joined] : groups.map((group) => (group === near[0] ? joined : group)).filter((group) => !near.includes(group));
  }
  const whole = (one) => Number(/\s.*[.!?]$/.test(memoryOf(one).content));
  groups = groups.map((group) => group.sort((one, other) => whole(other) - whole(one)));
  for (const one of all.filter(is(true))) {
    const name = memoryOf(one).content.replace(/ \(.*|\.$/, ""), own = groups.find((group) => memoryOf(group[0]).content.includes(name));
    if (own) own.push(one);
    else groups.push([one]);
  }
  return groups;
}

/** What else was read from the words of the first of a group; what those name says nothing more. */
const further = (memories) => memories.filter(({ kind }) => kind !== "entity").map((one) => el("a", { class: "tag", href: linkTo("memory", one.memory_id) }, masked(sentence(one))));

/** A fact as it is kept, what it ends, and how to take it back; `undo` is null where nothing new was kept. */
function row(some, changed) {
  const [{ receipt, memory }] = some, ended = some.flatMap((one) => one.ended), outcome = outcomeOf(receipt);
  // That it is new is said once, above.
  const state = el("span", {}, outcome !== "created" && badge(outcome));
  const undo = async () => {
    if (!back.isConnected) return;
    for (const { receipt: { superseded, memory_id: name } } of [...some].reverse()) {
      if (!(await attempt(() => (superseded.length > 0 ? call("POST", `${path(name)}/undo`) : call("DELETE", path(name))), ""))) return;
    }
    back.remove();
    node.classList.add("undone");
    state.replaceChildren(badge("undone"));
  };
  const alone = async () => (await undo(), say(ended.length > 0 ? `It says again: ${ended[0].content}` : "It is forgotten."), await changed());
  const back = some.some((one) => ["created", "superseded", "merged"].includes(one.receipt.outcome)) && button("Undo", alone, { "aria-label": `Undo: ${memory.content}` });
  const node = el("li", { class: "row read" },
    el("div", {},
      linked(memory),
      el("p", { class: "meta" }, state, further(some.slice(1).map((one) => one.memory)), receipt.reason && el("span", {}, inWords(receipt.reason))),
      ended.map((old) => el("p", { class: "meta" }, el("span", {}, "replaces ", el("del", {}, masked(old.content)))))),
    back);
  return { node, memory, outcome, undo: back ? undo : null };
}

/** What each step of reading and deciding did with each statement. */
function steps(written) {
  return el("details", {}, el("summary", {}, "What each step decided"), written.map(({ receipt, memory }) => several(
    written.length > 1 && el("h3", {}, masked(memory.content)),
    el("ol", { class: "steps" }, receipt.steps.map((step) => el("li", {}, el("strong", {}, spaced(step.name)), ` ${spaced(step.decision)} `, el("span", { class: "quiet" }, `${step.ms} ms`)))))));
}

/** What was masked, refused, or not taken for something to keep; null: nothing was. `text`: the message with its markers. */
function heldBack({ receipts, skipped = [], blocked = [], errors = [] }, text) {
  const empty = receipts.some((one) => one.reason === "nothing_left");
  const refused = [...blocked, ...receipts.filter((one) => ["blocked", "failed"].includes(one.outcome) && one.reason !== "nothing_left")].map((one) => `Not kept${one.key ? ` under ${spaced(one.key)}` : ""}: ${inWords(one.reason)}`);
  const lines = [
    ...[...new Set((text.match(new RegExp(MARKER, "g")) ?? []).map(markerWords))].map((word) => `The ${word} was left out: it is never stored.${empty ? "" : " A placeholder stands in its place."}`),
    ...refused,
    ...skipped.filter(({ reason }) => reason !== "memory_request").map(({ reason }) => `A part is not kept: ${inWords(reason)}.`),
    ...receipts.flatMap((one) => one.clamped.map((limit) => `Limited by policy: ${spaced(limit)}.`)),
    ...[...errors.filter((one) => !one.endsWith("nothing_left")), ...receipts.flatMap((one) => [...one.warnings, ...one.degraded])].map(inWords),
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

/** Facts shown at once of what a model gets. */
const MOST = 8;

/** What a model gets with a message, in the order in which it gets it: its tokens, and the memory behind each fact. `fresh`: what was read from the message itself, and stands above. */
async function block(query, signal, fresh, changed) {
  const made = await call("POST", "/v1/context", { body: { query }, signal });
  if (!made.text) return el("p", { class: "quiet" }, "Nothing: no memory bears on it.");
  const [{ runs }, rated] = await Promise.all([call("GET", "/v1/runs", { query: { limit: 10 }, signal }), ratings(signal)]);
  const run = runs.find((one) => one.block_sha256 === made.digest);
  const facts = together(made.hits, (hit) => hit.memory).map((group) => fact(group, fresh, rated, changed));
  return several(
    el("p", { class: "meta" }, el("span", {}, counted(facts.length, "fact")), run && el("span", {}, el("strong", {}, number(run.tokens)), " tokens"), run?.ms && el("span", {}, `${number(Math.round(run.ms))} ms`)),
    el("ul", { class: "rows" }, facts.slice(0, MOST)),
    facts.length > MOST && el("details", {}, el("summary", {}, `${facts.length - MOST} more`), el("ul", { class: "rows" }, facts.slice(MOST))),
    el("details", {}, el("summary", {}, "The exact text, with the words around the facts"), el("pre", { class: "block", tabindex: "0" }, made.text)));
}

/** One fact that a model gets, why, and what can be done about it. */
function fact(group, fresh, rated, changed) {
  const [{ memory, why }] = group, node = el("li", { class: "row used" }), read = group.some((one) => fresh.has(one.memory.memory_id));
  node.append(linked(memory), el("p", { class: "meta" }, el("span", {}, read ? "just read from this message" : whyWords(why))), ...acts(memory, node, rated.get(memory.memory_id), changed));
  return node;
}
