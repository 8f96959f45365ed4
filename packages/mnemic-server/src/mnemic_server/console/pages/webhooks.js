/** Webhooks: addresses that are called with every change. The secret of one is shown once. */

import { call } from "../api.js";
import { el, several } from "../dom.js";
import { ask, attempt, button, empty, field, head, when } from "../components.js";
import { counted, spaced } from "../labels.js";

const CHANGES = [["created", "created"], ["updated", "updated"], ["superseded", "replaced"], ["forgotten", "forgotten"], ["approved", "approved"], ["expired", "expired"]];

/** @param {any} context */
export async function show({ signal }) {
  const shown = el("div", { class: "list" });
  const fresh = el("div", { "aria-live": "polite" });
  const refresh = async () => {
    const { webhooks } = await call("GET", "/v1/webhooks", { signal });
    shown.replaceChildren(webhooks.length === 0 ? empty("No webhooks yet", "A webhook tells your application about every change, so that it does not have to ask.") : several(webhooks.map((one) => row(one, fresh, refresh))));
  };
  await refresh();
  return several(head("Webhooks", "Your application is called with every change to a memory of this tenant. Each call is signed and repeated until it is accepted.", button("Add a webhook", () => make(fresh, refresh), { kind: "primary" })), fresh, shown);
}

function row(webhook, fresh, refresh) {
  const path = `/v1/webhooks/${encodeURIComponent(webhook.webhook_id)}`;
  const name = webhook.label || webhook.url;
  return el("article", { class: "row" },
    el("div", {},
      el("p", { class: "content" }, name),
      webhook.label && el("p", { class: "quiet" }, webhook.url),
      el("p", { class: "meta" }, state(webhook),
        el("span", {}, webhook.actions.length === 0 ? "every change" : webhook.actions.map(spaced).join(", ")),
        el("span", {}, webhook.with_content ? "with the memory" : "identifiers only"),
        el("span", {}, webhook.delivered_at ? several("last delivered ", when(webhook.delivered_at)) : "nothing delivered yet"))),
    el("div", { class: "actions" },
      webhook.disabled_at && button("Enable", () => attempt(() => call("POST", `${path}/activation`), "The webhook is enabled.").then(refresh), { "aria-label": `Enable ${name}` }),
      button("Rotate secret", () => rotate(path, name, fresh), { kind: "quiet", "aria-label": `Rotate the secret of ${name}` }),
      button("Delete", () => remove(path, name, refresh), { kind: "quiet danger-text", "aria-label": `Delete ${name}` })));
}

function state(webhook) {
  if (webhook.disabled_at) return el("span", { class: "badge is-rejected" }, `disabled: ${spaced(webhook.outcome ?? "")}`);
  if (webhook.failures > 0) return el("span", { class: "badge is-pending_review" }, `${counted(webhook.failures, "failure")}: ${spaced(webhook.outcome ?? "")}`);
  return el("span", { class: "badge is-active" }, "enabled");
}

async function make(fresh, refresh) {
  const url = el("input", { name: "url", type: "url", required: true, maxlength: "2000", autocomplete: "off" });
  const label = el("input", { name: "label", maxlength: "200", autocomplete: "off" });
  const actions = el("fieldset", {}, el("legend", {}, "Which changes? None selected means all."), CHANGES.map(([action, words]) => el("p", { class: "check" }, el("input", { type: "checkbox", name: action, id: `action-${action}` }), el("label", { for: `action-${action}` }, words))));
  const content = el("p", { class: "check" }, el("input", { type: "checkbox", name: "with_content", id: "with-content" }), el("label", { for: "with-content" }, "Send the memory itself, not only its identifier"));
  const given = await ask("Add a webhook", several(field("Address", url, "A public https address."), field("Label", label), actions, content), { act: "Add it" });
  if (given === null) return;
  const body = { url: given.url, label: given.label, with_content: Boolean(given.with_content), actions: CHANGES.map(([action]) => action).filter((action) => given[action]) };
  if (await attempt(async () => told(fresh, await call("POST", "/v1/webhooks", { body })), "The webhook is added.")) await refresh();
}

async function rotate(path, name, fresh) {
  const about = el("p", {}, "For a day, calls are signed with the old secret as well, so that you can change it without losing any.");
  if ((await ask(`Rotate the secret of ${name}?`, about, { act: "Rotate it" })) === null) return;
  await attempt(async () => told(fresh, await call("POST", `${path}/rotation`)), "The webhook has a new secret.");
}

async function remove(path, name, refresh) {
  const about = el("p", {}, "It is no longer called. Messages not yet delivered are dropped.");
  if ((await ask(`Delete ${name}?`, about, { act: "Delete it", kind: "danger" })) === null) return;
  if (await attempt(() => call("DELETE", path), "The webhook is deleted.")) await refresh();
}

function told(fresh, made) {
  fresh.replaceChildren(el("div", { class: "panel" }, el("h2", {}, "Copy this secret now"), el("p", {}, "It verifies the signatures and is shown only once."), el("pre", { tabindex: "0", "aria-label": "Secret" }, made.secret)));
}
