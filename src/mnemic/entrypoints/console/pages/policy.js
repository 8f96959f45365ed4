/** The policy: what may be remembered. A draft of another can be tried on what is held before anybody puts it in force. */

import { call } from "../api.js";
import { download, el, several } from "../elements.js";
import { button, empty, failure, field, head, panel, table } from "../parts.js";
import { counted, inWords, number, spaced } from "../words.js";

const PAGE = 500;

/** @param {any} context */
export async function show({ signal }) {
  const policy = await call("GET", "/v1/policy", { signal });
  return several(
    head("Policy", "What may be remembered, by whom, and for how long. The service reads it from its policy file when it starts."),
    panel("In force", inForce(policy)),
    panel("Try another", editor(policy, signal)),
  );
}

function inForce(policy) {
  const keys = Object.entries(policy.keys ?? {});
  return several(
    el("p", {}, policy.keys === null ? "Every key may be used." : policy.open_keys ? `${counted(keys.length, "key has a rule", "keys have rules")} of their own; others may be used, too.` : `Only ${counted(keys.length, "key")} may be used.`, " ", policy.limits.consent === "required" ? "Consent is asked for every key." : "Consent is asked where a key is sensitive."),
    keys.length > 0 && table("Keys", ["Key", "Values", "A new value", "Kept for", ""], keys.map(([key, rule]) => [
      el("code", {}, key),
      rule.allowed_values ? rule.allowed_values.join(", ") : "any",
      spaced(rule.on_change),
      rule.ttl_days ? counted(rule.ttl_days, "day") : "as its kind",
      several(rule.sensitive && el("span", { class: "tag" }, "sensitive"), rule.preference && el("span", { class: "tag" }, "preference")),
    ])),
  );
}

function editor(policy, signal) {
  const text = el("textarea", { name: "policy", rows: "18", class: "code", spellcheck: "false" }, JSON.stringify(policy, null, 2));
  const said = el("div", { "aria-live": "polite" });
  const draft = () => {
    try {
      return JSON.parse(text.value);
    } catch (mistake) {
      said.replaceChildren(el("div", { class: "failure", role: "alert" }, el("p", {}, "This is no JSON yet."), el("p", { class: "quiet" }, mistake.message)));
      text.focus();
      return null;
    }
  };
  const dryRun = async () => {
    const proposed = draft();
    if (proposed === null) return;
    said.replaceChildren(el("p", { class: "quiet" }, "Trying it on what is held…"));
    try {
      said.replaceChildren(verdict(await tried(proposed, signal)));
    } catch (problem) {
      if (!signal.aborted) said.replaceChildren(failure(problem));
    }
  };
  const keep = () => {
    const proposed = draft();
    if (proposed !== null) download("policy.json", new Blob([JSON.stringify(proposed, null, 2)], { type: "application/json" }));
  };
  return several(
    field("The policy as a file says it", text, "Change it and try it: nothing is changed by that. To put it in force, name the file in MNEMIC_POLICY and start the service again."),
    el("div", { class: "actions" }, button("Try it on past memories", dryRun, { kind: "primary" }), button("Keep as a file", keep), button("Start over", () => ((text.value = JSON.stringify(policy, null, 2)), said.replaceChildren()), { kind: "quiet" })),
    said,
  );
}

/** The dry run over everything that is held, page by page. */
async function tried(policy, signal) {
  const all = { looked_at: 0, refused: {}, changed: [] };
  let cursor = null;
  do {
    const page = await call("POST", "/v1/policy/trial", { body: { policy }, query: { limit: PAGE, cursor }, signal });
    all.looked_at += page.looked_at;
    all.changed.push(...page.changed);
    for (const [reason, count] of Object.entries(page.refused)) all.refused[reason] = (all.refused[reason] ?? 0) + count;
    cursor = page.next;
  } while (cursor !== null);
  return all;
}

function verdict({ looked_at: count, refused, changed }) {
  const reasons = Object.entries(refused).sort(([, one], [, other]) => other - one);
  return several(
    el("p", { role: "status" }, el("strong", {}, `${counted(count, "memory", "memories")} tried. `), reasons.length === 0 ? "This policy would have let every one of them in." : "This policy would have refused:"),
    reasons.length > 0 && table("Refused by reason", ["Reason", "Memories"], reasons.map(([reason, number_]) => [several(inWords(reason), " ", el("code", { class: "quiet" }, reason)), number(number_)])),
    changed.length === 0
      ? empty("Nothing would be different", "Both policies say the same of every memory that is held.")
      : several(el("h3", {}, `${counted(changed.length, "memory", "memories")} judged differently`), table("Judged differently", ["Key", "Now", "Then"], changed.slice(0, 100).map((one) => [one.key ? el("code", {}, one.key) : "without a key", one.now ? inWords(one.now) : "let in", one.then ? inWords(one.then) : "let in"]))),
  );
}
