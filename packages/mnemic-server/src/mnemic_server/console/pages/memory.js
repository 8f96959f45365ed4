/** One memory: what it says, since when, from where, what it was before, and what can be done about it. */

import { call } from "../api.js";
import { diff } from "../diff.js";
import { el, several } from "../dom.js";
import { ask, attempt, badge, button, empty, facts, field, fold, head, masked, narrow, panel, say, sureToForget, when } from "../components.js";
import { linkTo } from "../page-list.js";
import { spansOf, timeline } from "../timeline.js";
import { rating, ratings } from "../rating.js";
import { counted, dateTime, day, kindWords, originWords, percent, sentence, spaced, topic } from "../labels.js";

/** What was done with a memory, as people say it. */
const DONE = { created: "Remembered", updated: "Corrected", injected: "Used in an answer", superseded: "Replaced", approved: "Approved", pending_review: "Sent to review", refreshed: "Said again", merged: "Joined with another", restored: "Brought back", rolled_back: "Set back" };

/** @param {any} context */
export async function show({ argument: memoryId, who, signal }) {
  if (!memoryId) return several(head("Memory"), empty("No memory is named", "Open one from Search.", el("a", { class: "button", href: "#/search" }, "Search")));
  const path = `/v1/memories/${encodeURIComponent(memoryId)}`;
  const [{ versions }, lineage, { uses }, rated] = await Promise.all([
    call("GET", `${path}/history`, { signal }),
    call("GET", `${path}/lineage`, { signal }),
    call("GET", `${path}/uses`, { query: { limit: 30 }, signal }),
    who.user ? ratings(signal) : new Map(),
  ]);
  const memory = versions.at(-1);
  const called = memory.level === "user" && memory.owner === who.user ? "you" : "the user";
  const changeable = memory.status === "active" && (who.roles.includes("writer") || who.roles.includes("subject"));
  const before = changeable && memory.supersedes.length > 0 ? lineage.earlier[0] : null;
  const again = before && button(before.content.length < 40 ? `Use “${before.content}” again` : "Use the earlier version", () => undo(path, before));
  const details = fold("Details", "what it is, how long, identifier", about(memory, called));
  details.open = !narrow();
  return several(
    el("p", { class: "trail" }, el("a", { href: "#/search" }, "Search"), " / memory"),
    head(masked(sentence(memory)), badge(memory.status), changeable && [button("Edit", () => correct(path, memory), { kind: "primary" }), button("Forget", () => forget(path, memory), { kind: "danger" })]),
    el("div", { class: "memory-sides" },
      panel(lineage.earlier.length + lineage.later.length + versions.length > 1 ? "Now and before" : "Since when", timeline(spansOf(versions, lineage.earlier, lineage.later), again), versions.length > 1 && history(path, versions, changeable)),
      panel("Where it came from, and its use", source(memory, called, lineage, uses), changeable && who.user && el("div", { class: "verdict" }, el("p", {}, "Does it help?"), rating(memory, rated.get(memory.memory_id))))),
    el("section", { class: "panel folds details" }, details),
  );
}

/** What else is known of it, in a reader's words. */
function about(memory, called) {
  const copied = async () => (await navigator.clipboard.writeText(memory.memory_id), say("Copied."));
  return facts([
    ["About", memory.level === "user" ? `${memory.owner}${called === "you" ? " (you)" : ""}` : `${memory.level} ${memory.owner}`],
    ["What it is", [kindWords(memory.kind), memory.category && spaced(memory.category)].filter(Boolean).join(", ")],
    ["Topic", memory.key && el("code", {}, memory.key)],
    ["Happened", memory.occurred_at && dateTime(memory.occurred_at)],
    ["True from", memory.valid_from && day(memory.valid_from)],
    ["True until", memory.valid_to && day(memory.valid_to)],
    ["Kept", memory.expires_at ? `until ${day(memory.expires_at)}` : "until it is forgotten"],
    ["Data", Object.keys(memory.data).length > 0 && el("pre", { tabindex: "0" }, JSON.stringify({ ...memory.data, ...(memory.category === "attachment" && memory.data.base64 && { base64: "kept" }) }, null, 2))],
    ["Conversation", memory.source.session],
    ["Identifier", el("span", { class: "copy" }, el("code", { class: "id" }, memory.memory_id), navigator.clipboard && button("Copy", copied, { kind: "quiet", "aria-label": "Copy the identifier" }))],
  ]);
}

/** The words it was read from, by whom and when. What it replaced is shown above. */
function source({ content, source: from, owner, confidence, trust, context, conflicts_with: conflicts, created_at: created }, called, { earlier }, uses) {
  const words = originWords(from, called, owner), open = conflicts.filter((name) => !earlier.some((one) => one.memory_id === name));
  return several(
    from.quote && from.quote !== content && el("blockquote", {}, masked(from.quote)),
    el("ol", { class: "rows events" },
      el("li", {}, el("p", {}, words.replace(/^./, (letter) => letter.toUpperCase()), from.quote === content && " in these words"), el("p", { class: "meta" }, el("span", {}, dateTime(created)))),
      el("li", {}, el("p", {}, `${percent(confidence)} sure`), el("p", { class: "meta" }, el("span", {}, `${trust} trust`))),
      seen(uses.filter((one) => one.action !== "created"))),
    facts([["Reference", from.ref && el("code", {}, from.ref)], ["Context", context], ["Contradicts", links(open)]]));
}

function links(names) {
  return names.length > 0 && el("ul", { class: "plain" }, names.map((name, at) => el("li", {}, el("a", { href: linkTo("memory", name) }, names.length === 1 ? "an earlier memory" : `memory ${at + 1}`))));
}

function seen(uses) {
  if (uses.length === 0) return el("li", {}, el("p", { class: "quiet" }, "Not used in an answer yet"));
  const rows = [];
  for (const use of uses) {
    const what = `${DONE[use.action] ?? topic(use.action)}${use.mine ? "" : " by somebody else"}`, last = rows.at(-1);
    if (last?.what === what) last.more.push(use);
    else rows.push({ what, more: [use] });
  }
  return rows.map(({ what, more: [last, ...others] }) => el("li", {},
    el("p", {}, others.length === 0 ? what : last.action === "injected" ? what.replace("an answer", `${others.length + 1} answers`) : `${what} ${others.length + 1} times`),
    el("p", { class: "meta" }, el("span", {}, others.length > 0 && (last.action === "injected" ? "last used " : "last "), when(last.at)), last.run_id && el("a", { href: linkTo("runs", last.run_id) }, others.length > 0 ? "See the last answer" : "See the answer"))));
}

function history(path, versions, changeable) {
  const newestFirst = versions.map((version, at) => [version, versions[at - 1]]).reverse();
  const again = (version) => changeable && version !== versions.at(-1) && button("Use this version", () => rollback(path, version.version, versions.at(-1).version), { kind: "quiet", "aria-label": `Use this version: ${version.version}` });
  return several(
    el("h3", {}, counted(versions.length, "version")),
    el("ol", { class: "versions" }, newestFirst.map(([version, before]) => el("li", {},
      el("p", { class: "meta" }, el("strong", {}, `Version ${version.version}`), version === versions.at(-1) && badge(version.status), when(version.updated_at), again(version)),
      before && before.content !== version.content ? diff(before.content, version.content) : el("p", {}, before ? el("span", { class: "quiet" }, "The text stayed the same.") : version.content)))),
  );
}

/** Show the page anew. */
function reload() {
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

/** @param {string} path @param {number} version @param {number | null} [now] the version of now, to which an undo leads back */
async function rollback(path, version, now = null) {
  const undo = now === null ? null : () => rollback(path, now);
  if (await attempt(() => call("POST", `${path}/rollback`, { body: { version } }), `It says again what version ${version} said.`, undo)) reload();
}

async function undo(path, earlier) {
  const sure = await ask("Use the earlier version?", several(el("blockquote", {}, masked(earlier.content)), el("p", {}, "This is in use again, and the memory of now is closed. Both stay in the history.")), { act: "Use it" });
  if (sure && (await attempt(() => call("POST", `${path}/undo`), "Restored."))) reload();
}

async function correct(path, memory) {
  const text = el("textarea", { name: "content", rows: "4", required: true, maxlength: "8192" }, memory.content);
  const given = await ask("Correct this memory", field("What it should say", text, "The current text is kept as an earlier version."), { act: "Save" });
  if (given && (await attempt(() => call("PATCH", path, { body: { content: given.content }, ifMatch: memory.version }), "Corrected.", () => rollback(path, memory.version)))) reload();
}

async function forget(path, memory) {
  if ((await sureToForget(memory)) && (await attempt(() => call("DELETE", path), "Forgotten."))) location.hash = "#/search";
}
