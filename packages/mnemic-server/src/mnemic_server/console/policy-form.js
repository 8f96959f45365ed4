/** A policy as a form: the switches and the keys that most policies are about. What it does not name stays as it is. */

import { el, several } from "./dom.js";
import { button, choice, empty, field } from "./components.js";

const ON_CHANGE = [["supersede", "replaces the old one"], ["accumulate", "is kept beside the old one"], ["review", "waits for review"]];
const CONSENT = [["implied", "only for sensitive keys"], ["required", "for every key"]];

/**
 * The form of a policy. `change` is told the whole policy whenever a field has changed.
 * @param {any} policy @param {(policy: any) => void} change
 */
export function policyForm(policy, change) {
  const draft = structuredClone(policy);
  const root = el("div", { class: "stack" });
  const changed = () => change(draft);
  const draw = () => root.replaceChildren(several(general(draft, changed), keys(draft, changed, draw)));
  draw();
  return root;
}

function general(draft, changed) {
  const days = number(draft.default_ttl_days, (value) => ((draft.default_ttl_days = value), changed()));
  const consent = choice(CONSENT, { value: draft.limits?.consent ?? "implied", on: { change: () => ((draft.limits = { ...draft.limits, consent: consent.value }), changed()) } });
  return el("fieldset", { class: "wide" },
    el("legend", {}, "General"),
    toggle("Keep the messages of conversations", draft.keep_messages !== false, (on) => ((draft.keep_messages = on), changed())),
    toggle("Keep question, block and answer of each turn", draft.keep_turns === true, (on) => ((draft.keep_turns = on), changed())),
    toggle("Let operators read turns for a stated reason", draft.operators_read_turns !== false, (on) => ((draft.operators_read_turns = on), changed())),
    toggle("Allow memories without a key", draft.keyless !== false, (on) => ((draft.keyless = on), changed())),
    draft.keys && toggle("Allow keys that have no rule below", Boolean(draft.open_keys), (on) => ((draft.open_keys = on), changed())),
    field("Keep memories for, in days", days, "Leave empty to keep them until they are forgotten."),
    field("Ask for consent", consent));
}

function keys(draft, changed, draw) {
  const named = Object.entries(draft.keys ?? {});
  const name = el("input", { name: "new-key", maxlength: "128", autocomplete: "off", placeholder: "favourite_team" });
  const add = (event) => {
    event.preventDefault();
    const key = name.value.trim();
    if (!key || draft.keys?.[key]) return name.focus();
    if (draft.keys === null || draft.keys === undefined) draft.open_keys = true;
    draft.keys = { ...draft.keys, [key]: { on_change: "supersede" } };
    changed();
    draw();
  };
  return several(
    el("h3", {}, "Keys"),
    named.length === 0 ? empty("No key has a rule", "Any key may be used. Add one to say how it is treated.") : named.map(([key, rule]) => keyFields(key, rule, changed, () => {
      delete draft.keys[key];
      changed();
      draw();
    })),
    el("form", { class: "inline", on: { submit: add } }, field("Add a key", name), el("button", { type: "submit", class: "button" }, "Add")),
  );
}

function keyFields(key, rule, changed, remove) {
  const values = el("input", { value: rule.allowed_values?.join(", ") ?? "", autocomplete: "off", on: { change: () => ((rule.allowed_values = listed(values.value)), changed()) } });
  const way = choice(ON_CHANGE, { value: rule.on_change ?? "supersede", on: { change: () => ((rule.on_change = way.value), changed()) } });
  const days = number(rule.ttl_days, (value) => ((rule.ttl_days = value), changed()));
  return el("fieldset", { class: "wide" },
    el("legend", {}, el("code", {}, key)),
    field("Allowed values", values, "Separated by commas; empty: any."),
    field("A new value", way),
    field("Kept for, in days", days),
    toggle("Sensitive", Boolean(rule.sensitive), (on) => ((rule.sensitive = on), changed())),
    toggle("A preference", Boolean(rule.preference), (on) => ((rule.preference = on), changed())),
    button("Remove the rule", remove, { kind: "quiet danger-text", "aria-label": `Remove the rule of ${key}` }));
}

let toggles = 0;

function toggle(words, on, set) {
  const id = `toggle-${(toggles += 1)}`;
  const input = el("input", { type: "checkbox", id, checked: on, on: { change: () => set(input.checked) } });
  return el("p", { class: "check" }, input, el("label", { for: id }, words));
}

function number(value, set) {
  const input = el("input", { type: "number", min: "1", max: "36500", value: value ?? "", on: { change: () => set(input.value === "" ? null : Number(input.value)) } });
  return input;
}

function listed(text) {
  const values = text.split(",").map((one) => one.trim()).filter(Boolean);
  return values.length === 0 ? null : values;
}
