/** One memory: what it says, since when, from where, what it was before, and what can be done about it. */

import { call } from "../api.js";
import { diff } from "../diff.js";
import { el, several } from "../dom.js";
import { ask, attempt, badge, button, empty, facts, field, fold, head, masked, panel, sureToForget, table, when } from "../components.js";
import { linkTo } from "../page-list.js";
import { spansOf, timeline } from "../timeline.js";
import { counted, dateTime, day, kindWords, originWords, percent, sentence, spaced } from "../labels.js";

/** What was done with a memory, as people say it. */
const DONE = { created: "remembered", updated: "corrected", injected: "put before a model", superseded: "replaced", approved: "approved", pending_review: "sent to review", refreshed: "confirmed", merged: "joined", restored: "brought back", rolled_back: "set back" };

/** @param {any} context */
export async function show({ argument: memoryId, who, signal }) {
  if (!memoryId) return several(head("Memory"), empty("No memory is named", "Open one from Search.", el("a", { class: "button", href: "#/search" }, "Search")));
  const path = `/v1/memories/${encodeURIComponent(memoryId)}`;
  const [{ versions }, lineage, { uses }] = await Promise.all([
    call("GET", `${path}/history`, { signal }),
    call("GET", `${path}/lineage`, { signal }),
    call("GET", `${path}/uses`, { query: { limit: 30 }, signal }),
  ]);
  const memory = versions.at(-1);
  const called = memory.level === "user" && memory.owner === who.user ? "you" : "the user";
  const changeable = memory.status === "active" && (who.roles.includes("writer") || who.roles.includes("subject"));
  return several(
    el("p", { class: "trail" }, el("a", { href: "#/search" }, "Search"), " / memory"),
    head(masked(sentence(memory)), several(badge(memory.status), originWords(memory.source, called, memory.owner), " · ", when(memory.updated_at)), changeable && [button("Correct", () => correct(path, memory), { kind: "primary" }), memory.supersedes.length > 0 && button("Restore the previous", () => undo(path)), button("Forget", () => forget(path, memory), { kind: "danger" })]),
    panel("When it was true", timeline(spansOf(versions, lineage.earlier, lineage.later)), versions.length > 1 && history(path, versions, changeable)),
    panel("Where it came from", source(memory, called, lineage)),
    panel("What was done with it", seen(uses)),
    el("section", { class: "panel folds" }, fold("Details", "key, kind, identifier", about(memory))),
  );
}

function about(memory) {
  return facts([
    ["Key", memory.key && el("code", {}, memory.key)],
    ["Kind", [kindWords(memory.kind), memory.category].filter(Boolean).join(", ")],
    ["Belongs to", `${memory.level} ${memory.owner}`],
    ["Believed", `${memory.trust} trust, ${percent(memory.confidence)} confident`],
    ["Happened", memory.occurred_at && dateTime(memory.occurred_at)],
    ["True from", memory.valid_from && day(memory.valid_from)],
    ["True until", memory.valid_to && day(memory.valid_to)],
    ["Expires", memory.expires_at ? day(memory.expires_at) : "never"],
    ["Data", Object.keys(memory.data).length > 0 && el("pre", { tabindex: "0" }, JSON.stringify({ ...memory.data, ...(memory.category === "attachment" && memory.data.base64 && { base64: "kept" }) }, null, 2))],
    ["Identifier", el("code", { class: "id" }, memory.memory_id)],
  ]);
}

/** The words it was read from, unless they are the memory itself; then by whom, when and where. What it replaced is shown above. */
function source({ content, source: from, owner, context, conflicts_with: conflicts, created_at: created }, called, { earlier }) {
  const words = originWords(from, called, owner), open = conflicts.filter((name) => !earlier.some((one) => one.memory_id === name));
  return several(
    from.quote && from.quote !== content && el("blockquote", {}, masked(from.quote)),
    el("p", {}, words.replace(/^./, (letter) => letter.toUpperCase()), ` on ${dateTime(created)}`, from.session && !words.includes(from.session) && `, in the conversation “${from.session}”`, "."),
    facts([["Reference", from.ref && el("code", {}, from.ref)], ["Context", context], ["Contradicts", links(open)]]));
}

function links(names) {
  return names.length > 0 && el("ul", { class: "plain" }, names.map((name, at) => el("li", {}, el("a", { href: linkTo("memory", name) }, names.length === 1 ? "an earlier memory" : `memory ${at + 1}`))));
}

function seen(uses) {
  if (uses.length === 0) return el("p", { class: "quiet" }, "It has not been used yet.");
  const rows = [];
  for (const use of uses) {
    const what = `${DONE[use.action] ?? spaced(use.action)}${use.mine ? "" : " by somebody else"}`, last = rows.at(-1);
    if (last?.what === what) last.more.push(use);
    else rows.push({ what, more: [use] });
  }
  return table("What was done with this memory", ["What", "When", "Run"], rows.map(({ what, more }) => [more.length > 1 ? `${what} ${more.length} times` : what, when(more[0].at), more[0].run_id && el("a", { href: linkTo("runs", more[0].run_id) }, more.length > 1 ? "the last one" : "see it")]));
}

function history(path, versions, changeable) {
  const newestFirst = versions.map((version, at) => [version, versions[at - 1]]).reverse();
  const again = (version) => changeable && version !== versions.at(-1) && button("Go back to this", () => rollback(path, version.version, versions.at(-1).version), { kind: "quiet", "aria-label": `Go back to version ${version.version}` });
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

async function undo(path) {
  const sure = await ask("Restore the previous memory?", el("p", {}, "This memory is closed and the previous one is in use again. Both stay in the history."), { act: "Restore it" });
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
