/** API keys: made, rotated, revoked. The text of a key is shown once. */

import { call } from "../api.js";
import { el, several } from "../dom.js";
import { ask, attempt, button, choice, empty, field, head, paged, when } from "../components.js";

const ROLES = ["reader", "writer", "subject", "reviewer", "operator"];

/** @param {any} context */
export async function show({ signal }) {
  const shown = el("div", {});
  const fresh = el("div", { "aria-live": "polite" });
  const load = async (cursor) => {
    const page = await call("GET", "/v1/keys", { query: { cursor, limit: 50 }, signal });
    return { items: page.keys, next: page.next };
  };
  const refresh = () => shown.replaceChildren(several(paged(load, (key) => row(key, fresh, refresh), empty("No keys yet", "A key lets a person or an application call the service."))));
  refresh();
  return several(head("API keys", "Anyone with a key can do what its roles allow. A key without a user belongs to an application, which issues tokens for its users.", button("Create a key", () => make(fresh, refresh), { kind: "primary" })), fresh, shown);
}

function row(key, fresh, refresh) {
  const path = `/v1/keys/${encodeURIComponent(key.key_id)}`;
  return el("article", { class: "row" },
    el("div", {},
      el("p", { class: "content" }, key.label || key.key_id),
      el("p", { class: "meta" }, el("span", {}, key.user ?? "an application"), el("span", {}, key.roles.join(", ")), el("span", {}, "made ", when(key.created_at), ` by ${key.created_by}`),
        el("span", {}, key.last_used_at ? several("used ", when(key.last_used_at)) : "never used"), key.expires_at && el("span", {}, "ends ", el("time", { datetime: key.expires_at }, key.expires_at.slice(0, 10))))),
    el("div", { class: "actions" },
      button("Rotate", () => rotate(path, key, fresh), { "aria-label": `Rotate ${key.label || key.key_id}` }),
      button("Revoke", () => revoke(path, key, refresh), { kind: "quiet", "aria-label": `Revoke ${key.label || key.key_id}` })));
}

async function make(fresh, refresh) {
  const label = el("input", { name: "label", required: true, maxlength: "200", autocomplete: "off" });
  const user = el("input", { name: "user", maxlength: "128", autocomplete: "off" });
  const roles = el("fieldset", {}, el("legend", {}, "Roles"), ROLES.map((role) => el("p", { class: "check" }, el("input", { type: "checkbox", name: role, id: `role-${role}`, checked: role === "reader" }), el("label", { for: `role-${role}` }, role))));
  const lasts = choice([["720", "30 days"], ["8760", "a year"], ["0", "for ever"]], { name: "hours", value: "8760" });
  const body = several(field("What is it for?", label), field("User", user, "Leave empty for an application."), roles, field("Valid for", lasts));
  const given = await ask("Create a key", body, { act: "Create it" });
  if (given === null) return;
  const wanted = { label: given.label, user: given.user || null, roles: ROLES.filter((role) => given[role]), ttl_hours: Number(given.hours) };
  if (await attempt(async () => told(fresh, await call("POST", "/v1/keys", { body: wanted })), "The key was created.")) refresh();
}

async function rotate(path, key, fresh) {
  const about = el("p", {}, "The key gets a new secret. The old one works for ten minutes more.");
  if ((await ask(`Rotate ${key.label || key.key_id}?`, about, { act: "Rotate it" })) === null) return;
  await attempt(async () => told(fresh, await call("POST", `${path}/rotation`, { query: { grace_seconds: 600 } })), "The key has a new secret.");
}

async function revoke(path, key, refresh) {
  const about = el("p", {}, "It stops working at once, and so do the tokens it has issued.");
  if ((await ask(`Revoke ${key.label || key.key_id}?`, about, { act: "Revoke it", kind: "danger" })) === null) return;
  if (await attempt(() => call("DELETE", path), "The key is revoked.")) refresh();
}

function told(fresh, made) {
  fresh.replaceChildren(el("div", { class: "panel" }, el("h2", {}, "Copy this key now"), el("p", {}, "It is shown this once."), el("pre", { tabindex: "0" }, made.api_key)));
}
