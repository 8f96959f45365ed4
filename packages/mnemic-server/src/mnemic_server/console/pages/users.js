/** Users of the tenant, for operators: find somebody, read their memories and runs for a reason, export, erase. */

import { call, fetchFile, Problem } from "../api.js";
import { download, el, several } from "../dom.js";
import { ask, attempt, button, empty, field, head, paged, panel, provenance, say, when } from "../components.js";
import { linkTo } from "../page-list.js";
import { openedRun } from "../run-parts.js";
import { counted } from "../labels.js";

/** @param {any} context */
export async function show({ argument, signal }) {
  return argument === null ? list(signal) : person(argument);
}

function list(signal) {
  const name = el("input", { name: "user", required: true, maxlength: "128", autocomplete: "off", spellcheck: "false", autofocus: true });
  const form = el("form", { class: "inline hinted", on: { submit: (event) => (event.preventDefault(), location.assign(linkTo("users", name.value.trim()))) } },
    field("User", name, "The name by which your application or provider knows them."), el("button", { type: "submit", class: "button primary" }, "Find"));
  const seen = new Map();
  const load = async (cursor) => {
    const page = await call("GET", "/v1/users", { query: { cursor }, signal });
    const fresh = page.users.filter((one) => !seen.has(one.user));
    for (const one of page.users) seen.set(one.user, true);
    return { items: fresh, next: page.next };
  };
  return several(
    head("Users", "People with memories in this tenant. Reading somebody's memories or runs needs a reason, which the audit keeps."),
    panel("Find somebody", form),
    panel("Everybody", paged(load, row, empty("Nobody yet", "Users appear here once something is remembered about them."))),
  );
}

function row({ user, count, updated_at }) {
  return el("div", { class: "row" },
    el("p", {}, el("a", { class: "content", href: linkTo("users", user) }, user), el("span", { class: "meta" }, counted(count, "memory", "memories"), " · updated ", when(updated_at))));
}

function person(user) {
  const shown = el("div", { class: "list", "aria-live": "polite" });
  return several(
    el("p", { class: "trail" }, el("a", { href: linkTo("users") }, "Users")),
    head(user, "What you do here is recorded in the audit log under your name.",
      button("Read the memories", () => read(user, shown), { kind: "primary" }),
      button("See the runs", () => readRuns(user, shown)),
      button("Export", () => take(user)),
      button("Erase", () => erase(user, shown), { kind: "danger" })),
    shown,
  );
}

/** Ask for the reason; null if the dialogue was closed. */
async function reasonFor(question, act) {
  const reason = el("input", { name: "reason", required: true, minlength: "3", maxlength: "64", pattern: "[A-Za-z0-9][A-Za-z0-9 ._#:\\/\\-]{2,63}", autocomplete: "off" });
  const given = await ask(question, field("Reason", reason, "A case number or a few words. It is kept in the audit log, so leave out anything personal."), { act });
  return given && given.reason;
}

async function read(user, shown) {
  const reason = await reasonFor(`Read the memories of ${user}?`, "Read");
  if (reason === null) return;
  const load = async (before) => {
    const page = await call("POST", "/v1/users/openings", { body: { user, reason, limit: 50, before } });
    return { items: page.memories, next: page.next };
  };
  shown.replaceChildren(panel(`Memories of ${user}`, paged(load, memory, empty("Nothing is remembered", `No active memory belongs to ${user}.`))));
}

async function readRuns(user, shown) {
  const reason = await reasonFor(`See the questions and answers of ${user}?`, "Open");
  if (reason === null) return;
  const load = async (before) => {
    const page = await call("POST", "/v1/users/run-openings", { body: { user, reason, limit: 20, before } });
    const known = new Map(page.memories.map((one) => [one.memory_id, one.content]));
    return { items: page.runs.map((one) => ({ ...one, known })), next: page.next };
  };
  shown.replaceChildren(panel(`Runs of ${user}`, paged(load, openedRun, empty("No runs yet", `No agent has used the memory of ${user}.`))));
}

function memory(one) {
  return el("div", { class: "row" }, el("div", {}, el("p", { class: "content" }, one.content), provenance(one, one.owner)));
}

async function take(user) {
  const name = user.replace(/[^A-Za-z0-9._-]/g, "_");
  await attempt(async () => download(`${name}.json`, await fetchFile(`/v1/export/subject?${new URLSearchParams({ subject: user })}`)), `Everything held about ${user} is in ${name}.json.`);
}

async function erase(user, shown) {
  const typed = el("input", { name: "typed", required: true, autocomplete: "off" });
  const about = el("p", {}, "Every memory is deleted, in every version, and what was derived from it. This cannot be undone.");
  const given = await ask(`Erase everything about ${user}?`, several(about, field(`Type ${user} to confirm`, typed)), { act: "Erase everything", kind: "danger" });
  if (given === null) return;
  if (given.typed !== user) return say("That is another name. Nothing was erased.", "bad");
  await attempt(async () => shown.replaceChildren(receipt(user, await erased(user))), `Everything about ${user} is erased.`);
}

async function erased(user) {
  let job = await call("POST", "/v1/erasures", { body: { subject: user } });
  while (job.state === "running") job = await call("GET", `/v1/erasures/${job.erasure_id}`, { query: { wait: 10 } });
  if (!job.erased) throw new Problem(0, job.reason ?? "internal_error");
  return job.erased;
}

function receipt(user, done) {
  const file = new Blob([JSON.stringify(done, null, 2)], { type: "application/json" });
  return panel(done.complete ? "Everything is erased" : "The erasure is not complete yet",
    el("p", {}, "Save the receipt: it proves later that nothing is left."),
    button("Download the receipt", () => download(`erasure-${done.receipt_id}.json`, file)));
}
