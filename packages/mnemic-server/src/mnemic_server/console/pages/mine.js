/** My memory: everything held about the person who is signed in, and every right they have over it. */

import { call, fetchFile, Problem } from "../api.js";
import { download, el, several } from "../dom.js";
import { ask, attempt, button, choice, empty, facts, field, head, paged, panel, provenance, say, sureToForget, when } from "../components.js";
import { linkTo } from "../page-list.js";
import { profile } from "../profile.js";
import { counted, dateTime, erasedWords, number, spaced } from "../labels.js";

const KINDS = [["", "everything"], ["long_term", "long term"], ["persona", "how to speak to me"], ["episodic", "what happened"], ["entity", "people and things"], ["structured", "tables and records"]];

/** @param {any} context */
export async function show({ who, signal }) {
  const subject = who.roles.includes("subject");
  const [{ consents }, { keys }, { memories }] = await Promise.all([
    call("GET", "/v1/consents", { signal }),
    call("GET", "/v1/keys/own", { signal }),
    call("GET", "/v1/memories", { query: { limit: 200 }, signal }),
  ]);
  const inUse = memories.map((memory) => memory.key).filter((key) => key && !key.includes(":"));
  const known = profile(signal), remembered = held();
  await known.fill();
  const anew = () => (remembered.fill(), known.fill());
  return several(
    head("My memory", "What is remembered about you, and what you can do about it.", subject && button("Download my data", () => takeAlong())),
    known.node,
    remembered.node,
    panel("Your decisions", decisions(consents, inUse)),
    panel("Keys that open your memory", opening(keys)),
    subject && panel("Erase everything", erasure(who, anew)),
  );
}

function held() {
  const kind = choice(KINDS, { name: "kind" });
  const list = el("div", {});
  const fill = () => {
    const node = paged(
      (cursor) => call("GET", "/v1/memories", { query: { limit: 20, before: cursor, kinds: kind.value } }).then(({ memories, next }) => ({ items: memories, next })),
      row,
      empty("Nothing is remembered about you", "When something is, you will see it here."),
    );
    list.replaceChildren(node);
  };
  kind.addEventListener("change", fill);
  const details = el("details", { on: { toggle: () => details.open && fill() } }, el("summary", {}, "Show it, newest first"), field("Of the kind", kind), list);
  return { node: panel("Everything that is stored", details), fill: () => details.open && fill() };
}

function row(memory) {
  const gone = async () => {
    if ((await sureToForget(memory)) && (await attempt(() => call("DELETE", `/v1/memories/${encodeURIComponent(memory.memory_id)}`), "Forgotten."))) item.remove();
  };
  const item = el("div", { class: "row" },
    el("div", {}, el("a", { class: "content", href: linkTo("memory", memory.memory_id) }, memory.content), provenance(memory)),
    el("div", { class: "actions" },
      el("a", { class: "button quiet", href: linkTo("memory", memory.memory_id), "aria-label": `See or correct: ${memory.content}` }, "See or correct"),
      button("Forget", gone, { kind: "quiet danger-text", "aria-label": `Forget: ${memory.content}` })));
  return item;
}

/** One line for each key that something is held under or that was decided about. */
function decisions(consents, inUse) {
  const list = el("ul", { class: "rows" });
  const draw = () => {
    const keys = [...new Set([...inUse, ...Object.keys(consents)])].sort();
    list.replaceChildren(...(keys.length === 0 ? [el("li", { class: "quiet" }, "Nothing is stored under a key, and you have not made any decisions.")] : keys.map((key) => el("li", { class: "row short" },
      el("div", { class: "meta" }, el("strong", {}, spaced(key)), stand(consents[key])),
      el("div", { class: "actions" },
        consents[key] !== true && button("Allow", () => allow(key), { kind: "quiet", "aria-label": `Allow ${key}` }),
        consents[key] !== false && button("Withdraw", () => withdraw(key), { kind: "quiet danger-text", "aria-label": `Withdraw consent for ${key}` }))))));
  };
  const allow = async (key) => {
    if (await attempt(() => call("PUT", `/v1/consents/${encodeURIComponent(key)}`), `Memories under ${key} may be kept and used.`)) {
      consents[key] = true;
      draw();
    }
  };
  const withdraw = async (key) => {
    const erase = el("input", { type: "checkbox", name: "erase", id: "erase-held" });
    const given = await ask(`Withdraw consent for ${key}?`, several(el("p", {}, "From now on nothing will be stored or used under this key."), el("p", { class: "check" }, erase, el("label", { for: "erase-held" }, "Also erase what is stored under it"))), { act: "Withdraw", kind: "danger" });
    if (!given) return;
    const done = ({ hidden, erased }) => (erased ? "Withdrawn, and what was stored is erased." : `Withdrawn; ${counted(hidden, "memory is", "memories are")} not used any more.`);
    const undo = given.erase ? null : () => allow(key);
    if (await attempt(() => call("DELETE", `/v1/consents/${encodeURIComponent(key)}`, { query: { erase_held: given.erase ? "true" : "" } }), done, undo)) {
      consents[key] = false;
      draw();
    }
  };
  const key = el("input", { name: "key", required: true, maxlength: "128", autocomplete: "off" });
  const form = el("form", { class: "inline", on: { submit: (event) => (event.preventDefault(), allow(key.value.trim()).then(() => form.reset())) } }, field("Allow another key", key), el("button", { type: "submit", class: "button" }, "Allow"));
  draw();
  return several(el("p", { class: "quiet" }, "For each key you decide whether anything may be stored and used under it. Sensitive keys need your consent first."), list, form);
}

function stand(decided) {
  if (decided === undefined) return el("span", { class: "quiet" }, "not decided");
  return el("span", { class: decided ? "badge is-active" : "badge is-rejected" }, decided ? "allowed" : "not allowed");
}

/** Whoever made them: nobody gets a key to somebody's memory behind their back. */
function opening(keys) {
  if (keys.length === 0) return el("p", { class: "quiet" }, "No key was created for you. You reach your memory through your sign-in provider.");
  return several(
    el("p", { class: "quiet" }, "Anyone who holds one of these keys can act as you. If you do not recognise one, ask who created it and have it revoked."),
    el("ul", { class: "rows" }, keys.map((key) => el("li", { class: "row" },
      el("div", {},
        el("p", { class: "content" }, key.label || key.key_id),
        el("p", { class: "meta" }, el("span", {}, key.roles.join(", ")), el("span", {}, "made ", when(key.created_at), ` by ${key.created_by}`),
          el("span", {}, key.last_used_at ? several("used ", when(key.last_used_at)) : "never used")))))));
}

async function takeAlong() {
  await attempt(async () => download("my-memory.jsonl", await fetchFile("/v1/export")), "Everything held about you is in my-memory.jsonl.");
}

function erasure(who, erased) {
  const shown = el("div", { "aria-live": "polite" });
  const begin = async () => {
    const typed = el("input", { name: "typed", required: true, autocomplete: "off" });
    const block = el("input", { type: "checkbox", name: "block", id: "erase-block" });
    const given = await ask("Erase everything about you?", several(
      el("p", {}, "Every memory about you is deleted, in every version, and what was derived from it. This cannot be undone."),
      field(`Type your name, ${who.user}, to confirm`, typed),
      el("p", { class: "check" }, block, el("label", { for: "erase-block" }, "Do not remember anything about me in the future"))), { act: "Erase everything", kind: "danger" });
    if (!given) return;
    if (given.typed !== who.user) return say("That is not your name. Nothing was erased.", "bad");
    if (await attempt(async () => shown.replaceChildren(receiptCard(await receiptOf(Boolean(given.block)))), "Erased.")) erased();
  };
  return several(el("p", {}, "You get a receipt that states how much was erased. With it you can check at any time that nothing is left."), button("Erase everything about me", begin, { kind: "danger" }), shown);
}

async function receiptOf(block) {
  let job = await call("POST", "/v1/erasures", { body: { block } });
  while (job.state === "running") job = await call("GET", `/v1/erasures/${job.erasure_id}`, { query: { wait: 10 } });
  if (!job.erased) throw new Problem(0, job.reason ?? "internal_error");
  return job.erased;
}

function receiptCard(receipt) {
  const checked = el("div", { "aria-live": "polite" });
  const verify = () => attempt(async () => {
    const { complete, traces } = await call("POST", "/v1/erasures/verification", { body: receipt });
    checked.replaceChildren(complete ? el("p", { class: "good" }, "Checked now: nothing of it is left, in any place.") : facts(Object.entries(traces).filter(([, count]) => count).map(([place, count]) => [erasedWords(place), number(count)])));
  }, "");
  return el("article", { class: "receipt" },
    el("h3", {}, receipt.complete ? "Everything is erased" : "The erasure is not complete yet"),
    facts([["Receipt", el("code", { class: "id" }, receipt.receipt_id)], ["When", dateTime(receipt.at)], ...Object.entries(receipt.counts).filter(([, count]) => count).map(([what, count]) => [erasedWords(what), number(count)]), ["In the future", receipt.blocks_relearning ? "nothing is remembered about you" : "new memories may be kept"]]),
    el("div", { class: "actions" },
      button("Save the receipt", () => download(`erasure-${receipt.receipt_id}.json`, new Blob([JSON.stringify(receipt, null, 2)], { type: "application/json" }))),
      button("Check that nothing is left", verify, { kind: "primary" })),
    checked);
}
