/** My memory: everything held about the person who is signed in, and every right they have over it. */

import { call, fetchFile, Problem } from "../api.js";
import { download, el, several } from "../dom.js";
import { ask, attempt, button, choice, empty, facts, field, fold, head, linked, paged, provenance, say, sureToForget, when } from "../components.js";
import { linkTo } from "../page-list.js";
import { firstSteps, profile } from "../profile.js";
import { counted, dateTime, erasedWords, kindWords, number, spaced, topic } from "../labels.js";

const KINDS = [["", "everything"], ...["long_term", "persona", "episodic", "entity", "structured"].map((kind) => [kind, kindWords(kind)])];

/** @param {any} context */
export async function show({ who, signal }) {
  const subject = who.roles.includes("subject"), known = profile(who, signal), remembered = held(who), allowed = el("div", { class: "stack" });
  const decide = async () => {
    const [{ consents }, { memories }] = await Promise.all([call("GET", "/v1/consents", { signal }), call("GET", "/v1/memories", { query: { limit: 200 }, signal })]);
    allowed.replaceChildren(decisions(consents, memories.map((memory) => memory.key).filter((key) => key && !key.includes(":"))));
  };
  const [{ keys }] = await Promise.all([call("GET", "/v1/keys/own", { signal }), known.fill(), decide()]);
  const anew = () => Promise.all([remembered.fill(), known.fill(), decide()]);
  return several(
    head("My memory", "What is remembered about you.", subject && button("Download my data", takeAlong), who.roles.includes("writer") && el("a", { class: "button primary", href: linkTo("live") }, "Add something")),
    known.node,
    el("section", { class: "panel folds", "aria-label": "What you decide" },
      remembered.node,
      fold("What may be kept", "allow or refuse a topic", allowed),
      fold("Who can open it", keys.length === 0 ? "your sign-in" : counted(keys.length, "key"), opening(keys)),
      subject && ending("Erase everything", "cannot be undone; you get a proof", erasure(who, anew))),
  );
}

function ending(...what) {
  const part = fold(...what);
  part.classList.add("ending");
  return part;
}

function held(who) {
  const kind = choice(KINDS, { name: "kind" });
  const list = el("div", {});
  const fill = () => {
    const node = paged(
      (cursor) => call("GET", "/v1/memories", { query: { limit: 20, before: cursor, kinds: kind.value } }).then(({ memories, next }) => ({ items: memories, next })),
      row,
      empty("Nothing is stored", "No message and no fact.", firstSteps(who)),
    );
    list.replaceChildren(node);
  };
  kind.addEventListener("change", fill);
  const node = fold("Everything that is stored", "also messages and events", several(el("div", { class: "inline" }, field("Kind", kind), button("Printable page", asPage)), list), fill);
  return { node, fill: () => node.open && fill() };
}

function row(memory) {
  const gone = async () => {
    if ((await sureToForget(memory)) && (await attempt(() => call("DELETE", `/v1/memories/${encodeURIComponent(memory.memory_id)}`), "Forgotten."))) item.remove();
  };
  const item = el("div", { class: "row" },
    el("div", {}, linked(memory), provenance(memory, "you")),
    el("div", { class: "actions" },
      button("Forget", gone, { kind: "quiet danger-text", "aria-label": `Forget: ${memory.content}` })));
  return item;
}

/** One line for each key that something is held under or that was decided about. */
function decisions(consents, inUse) {
  const list = el("ul", { class: "rows" });
  const draw = () => {
    const keys = [...new Set([...inUse, ...Object.keys(consents)])].sort();
    list.replaceChildren(...(keys.length === 0 ? [el("li", { class: "quiet" }, "Nothing is kept under a topic yet.")] : keys.map((key) => el("li", { class: "row short" },
      el("div", {}, el("p", { class: "content" }, topic(key)), consents[key] !== undefined && el("p", { class: "meta" }, stand(consents[key]))),
      el("div", { class: "either", role: "group", "aria-label": topic(key) },
        button("Keep", () => allow(key), { kind: "quiet", "aria-pressed": String(consents[key] !== false), "aria-label": `Keep ${spaced(key)}` }),
        button("Do not keep", () => consents[key] !== false && withdraw(key), { kind: "quiet", "aria-pressed": String(consents[key] === false), "aria-label": `Do not keep ${spaced(key)}` }))))));
  };
  const allow = async (key) => {
    if (await attempt(() => call("PUT", `/v1/consents/${encodeURIComponent(key)}`), `What concerns ${spaced(key)} may be kept and used.`)) {
      consents[key] = true;
      draw();
    }
  };
  const withdraw = async (key) => {
    const erase = el("input", { type: "checkbox", name: "erase", id: "erase-held" });
    const given = await ask(`Do not keep what concerns ${spaced(key)}?`, several(el("p", {}, "From now on nothing will be stored or used under this topic."), el("p", { class: "check" }, erase, el("label", { for: "erase-held" }, "Also erase what is stored under it"))), { act: "Do not keep it", kind: "danger" });
    if (!given) return;
    const done = ({ hidden, erased }) => (erased ? "Not kept any more, and what was stored is erased." : `Not kept any more; ${counted(hidden, "memory is", "memories are")} not used any more.`);
    const undo = given.erase ? null : () => allow(key);
    if (await attempt(() => call("DELETE", `/v1/consents/${encodeURIComponent(key)}`, { query: { erase_held: given.erase ? "true" : "" } }), done, undo)) {
      consents[key] = false;
      draw();
    }
  };
  const key = el("input", { name: "key", required: true, maxlength: "128", autocomplete: "off" });
  const form = el("form", { class: "inline", on: { submit: (event) => (event.preventDefault(), allow(key.value.trim()).then(() => form.reset())) } }, field("Allow another topic", key), el("button", { type: "submit", class: "button" }, "Allow"));
  draw();
  return several(el("p", { class: "quiet" }, "A topic is kept until you say no; a sensitive one only once you say yes."), list, form);
}

function stand(decided) {
  return decided ? "kept: you have allowed it" : "not kept: you have said no";
}

/** Whoever made them: nobody gets a key to somebody's memory behind their back. */
function opening(keys) {
  if (keys.length === 0) return el("p", { class: "quiet" }, "No API key was made for you: you come in through your sign-in provider.");
  return several(
    el("p", { class: "quiet" }, "Whoever holds one of these API keys can act as you. If you do not know one, ask who made it and have it revoked."),
    el("ul", { class: "rows" }, keys.map((key) => el("li", { class: "row" },
      el("div", {},
        el("p", { class: "content" }, key.label || several("Key ", el("code", {}, `…${key.key_id.slice(-6)}`))),
        el("p", { class: "meta" }, el("span", {}, key.roles.join(", ")), el("span", {}, "made ", when(key.created_at), ` by ${key.created_by}`),
          el("span", {}, key.last_used_at ? several("used ", when(key.last_used_at)) : "never used")))))));
}

async function asPage() {
  await attempt(async () => download("my-memory.html", await fetchFile("/v1/export/subject?form=html")), "Everything held about you is in my-memory.html: open it in a browser.");
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
    facts([["Number", el("code", { class: "id" }, receipt.receipt_id)], ["When", dateTime(receipt.at)], ...Object.entries(receipt.counts).filter(([, count]) => count).map(([what, count]) => [erasedWords(what).replace(/^./, (letter) => letter.toUpperCase()), number(count)]), ["In the future", receipt.blocks_relearning ? "nothing is remembered about you" : "new memories may be kept"]]),
    el("div", { class: "actions" },
      button("Save the receipt", () => download(`erasure-${receipt.receipt_id}.json`, new Blob([JSON.stringify(receipt, null, 2)], { type: "application/json" }))),
      button("Check that nothing is left", verify, { kind: "primary" })),
    checked);
}
