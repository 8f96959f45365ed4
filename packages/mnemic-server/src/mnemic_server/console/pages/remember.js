/** Remembering something by hand. */

import { sender } from "../api.js";
import { el, several } from "../dom.js";
import { badge, choice, facts, failure, field, head, panel } from "../components.js";
import { linkTo } from "../page-list.js";
import { inWords, spaced } from "../labels.js";

const KINDS = [["long_term", "long term: true until changed"], ["episodic", "episodic: an event"]];

/** What happened to it, as a sentence. */
const OUTCOMES = {
  created: "It is remembered.",
  refreshed: "It was already known and is now confirmed.",
  merged: "It says the same as an existing memory and was merged with it.",
  superseded: "It is remembered and replaces what was known before.",
  pending_review: "It is waiting for review.",
  blocked: "It was not saved.",
  failed: "It could not be saved.",
};

export async function show() {
  const content = el("textarea", { name: "content", rows: "3", required: true, maxlength: "8192", autofocus: true, placeholder: "I prefer aisle seats on long flights." });
  const key = el("input", { name: "key", maxlength: "128", autocomplete: "off" });
  const kind = choice(KINDS, { name: "kind" });
  const days = el("input", { type: "number", name: "days", min: "1", max: "365" });
  const outcome = el("div", { "aria-live": "polite" });
  const remember = sender("/v1/memories");

  async function send(event) {
    event.preventDefault();
    const body = { content: content.value, kind: kind.value, ...(key.value ? { key: key.value } : {}), ...(days.value ? { ttl: `${Number(days.value)}d` } : {}) };
    try {
      outcome.replaceChildren(receipt(await remember(body)));
      form.reset();
    } catch (problem) {
      outcome.replaceChildren(failure(problem));
    }
  }

  const form = el(
    "form",
    { class: "panel form", on: { submit: send } },
    field("What should be remembered?", content),
    el("div", { class: "columns" },
      field("Kind", kind),
      field("Key (optional)", key, "Each key holds one memory: a new one replaces the old one."),
      field("For how many days (optional)", days)),
    el("div", { class: "actions" }, el("button", { type: "submit", class: "button primary" }, "Remember")),
  );
  return several(head("Remember", "What you enter here is checked by the same policy as anything an agent stores."), form, outcome);
}

function receipt(given) {
  const link = given.memory_id && given.outcome !== "pending_review" && el("a", { href: linkTo("memory", given.memory_id) }, "Open it");
  return panel(
    null,
    el("p", {}, badge(given.outcome), " ", el("strong", {}, OUTCOMES[given.outcome] ?? spaced(given.outcome)), " ", given.reason && inWords(given.reason), " ", link),
    facts([
      ["Limited by policy", given.clamped.map(spaced).join(", ")],
      ["Worth knowing", given.warnings.map(inWords).join(", ")],
      ["Not everything worked", given.degraded.map(inWords).join(", ")],
    ]),
    el("details", {}, el("summary", {}, "What each step decided"),
      el("ol", { class: "steps" }, given.steps.map((step) => el("li", {}, el("strong", {}, spaced(step.name)), ` ${spaced(step.decision)} `, el("span", { class: "quiet" }, `${step.ms} ms`))))),
  );
}
