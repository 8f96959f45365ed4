/** The tenants of the service, for its own admins: made, limited, suspended. Nothing of what they remember is shown here. */

import { call } from "../api.js";
import { el, several } from "../dom.js";
import { ask, attempt, button, empty, field, head, paged, panel, table, when } from "../components.js";
import { spaced } from "../labels.js";
import { limitWords } from "./quotas.js";

const LIMITS = ["rows", "bytes", "writes_a_minute"];
const WORDS = { rows: "Memories", bytes: "Bytes", writes_a_minute: "Writes a minute" };

/** @param {any} context */
export async function show({ who, signal }) {
  const shown = el("div", {});
  const refresh = () => shown.replaceChildren(several(paged((cursor) => page(cursor, signal), (tenant) => row(tenant, who, refresh), empty("No tenants yet", "A tenant appears when a credential first names it, or when you create it here."))));
  refresh();
  return several(
    head("Tenants", "The tenants that share this service, and how much each may store. Changes apply in every process within seconds.", button("Create a tenant", () => make(refresh), { kind: "primary" })),
    shown,
  );
}

async function page(cursor, signal) {
  const found = await call("GET", "/v1/tenants", { query: { cursor, limit: 50 }, signal });
  return { items: found.tenants, next: found.next };
}

function row(tenant, who, refresh) {
  const path = `/v1/tenants/${encodeURIComponent(tenant.tenant)}`;
  const suspended = tenant.suspended_at !== null;
  return el(
    "article",
    { class: "panel" },
    el("h2", {}, tenant.tenant, " ", suspended && el("span", { class: "badge is-blocked" }, "suspended")),
    el("p", { class: "meta" }, tenant.label && el("span", {}, tenant.label), el("span", {}, "known since ", when(tenant.created_at)), suspended && el("span", {}, "suspended ", when(tenant.suspended_at))),
    limits(tenant),
    el(
      "div",
      { class: "actions" },
      button("Limit", () => limit(tenant, path, refresh), { "aria-label": `Limit ${tenant.tenant}` }),
      suspended
        ? button("Resume", () => act(() => call("DELETE", `${path}/suspension`), `${tenant.tenant} is open again`, refresh), { "aria-label": `Resume ${tenant.tenant}` })
        : tenant.tenant !== who.tenant && button("Suspend", () => suspend(tenant, path, refresh), { kind: "quiet", "aria-label": `Suspend ${tenant.tenant}` }),
    ),
  );
}

function limits({ tenant, quotas }) {
  if (quotas === null) return el("p", { class: "quiet" }, "The quotas from the service's settings apply.");
  if (quotas.length === 0) return el("p", { class: "quiet" }, "Nothing is limited.");
  return table(`Limits of ${tenant}`, ["Of", "Kind", "Limit"], quotas.flatMap((quota) => LIMITS.filter((name) => quota[name]).map((name) => [
    quota.per === "tenant" ? "the whole tenant" : "each user",
    quota.kind ? spaced(quota.kind) : "everything",
    limitWords(quota, name),
  ])));
}

async function make(refresh) {
  const name = el("input", { name: "tenant", required: true, maxlength: "128", pattern: "[A-Za-z0-9_.:@+\\-]+", autocomplete: "off", spellcheck: "false" });
  const label = el("input", { name: "label", maxlength: "200", autocomplete: "off" });
  const given = await ask("Create a tenant", several(field("Name", name, "Letters, digits and _ . : @ + -. Keys and tokens name it so."), field("Label", label), fields([])), { act: "Create it" });
  if (given === null) return;
  const body = { tenant: given.tenant, label: given.label, quotas: quotasOf(given, []) };
  await act(() => call("POST", "/v1/tenants", { body }), `${given.tenant} was made`, refresh);
}

async function limit(tenant, path, refresh) {
  const given = await ask(`Limit ${tenant.tenant}`, fields(tenant.quotas ?? []), { act: "Set the limits" });
  if (given === null) return;
  await act(() => call("PUT", `${path}/quotas`, { body: { quotas: quotasOf(given, tenant.quotas ?? []) } }), `The limits of ${tenant.tenant} are set`, refresh);
}

async function suspend(tenant, path, refresh) {
  const about = el("p", {}, "All credentials of this tenant are refused until it is resumed. Its memories are kept.");
  if ((await ask(`Suspend ${tenant.tenant}?`, about, { act: "Suspend it", kind: "danger" })) === null) return;
  await act(() => call("POST", `${path}/suspension`), `${tenant.tenant} is suspended`, refresh);
}

async function act(work, done, refresh) {
  if (await attempt(work, done)) refresh();
}

/** Fields for the limits over all kinds; those of one kind stay as they are. */
function fields(quotas) {
  return several(["tenant", "user"].map((per) => el(
    "fieldset",
    {},
    el("legend", {}, per === "tenant" ? "The whole tenant" : "Each user"),
    LIMITS.map((name) => field(WORDS[name], el("input", { type: "number", min: "1", step: "1", name: `${per}.${name}`, value: overAll(quotas, per)?.[name] ?? null }))),
  )), el("p", { class: "hint" }, "If all are left empty, the quotas from the service's settings apply."));
}

function overAll(quotas, per) {
  return quotas.find((quota) => quota.per === per && !quota.kind);
}

function quotasOf(given, before) {
  const chosen = before.filter((quota) => quota.kind);
  for (const per of ["tenant", "user"]) {
    const numbers = LIMITS.filter((name) => given[`${per}.${name}`]).map((name) => [name, Number(given[`${per}.${name}`])]);
    if (numbers.length > 0) chosen.push({ per, soft: overAll(before, per)?.soft ?? 0.8, ...Object.fromEntries(numbers) });
  }
  return chosen.length > 0 ? chosen : null;
}
