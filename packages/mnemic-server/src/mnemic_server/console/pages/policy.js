/** The policy: what may be remembered. A draft of another is tried on what is held, then put in force, and can be taken back. */

import { call } from "../api.js";
import { download, el, several } from "../dom.js";
import { ask, attempt, button, empty, failure, field, head, panel, say, table, when } from "../components.js";
import { policyForm } from "../policy-form.js";
import { counted, inWords, number, spaced } from "../labels.js";

const PAGE = 500;

/** @param {any} context */
export async function show({ signal }) {
  const shown = el("div", { class: "stack" });
  const refresh = async () => {
    // The versions first: a policy that is newer than the version it is taken for is refused when it is put back.
    const { versions } = await call("GET", "/v1/policy/versions", { signal });
    const policy = await call("GET", "/v1/policy", { signal });
    shown.replaceChildren(
      panel("In force", since(versions[0]), inForce(policy)),
      panel("Change the policy", editor(policy, versions[0]?.version ?? 0, signal, refresh)),
      panel("Earlier versions", history(versions, refresh)),
    );
  };
  await refresh();
  return several(head("Policy", "What may be remembered in this tenant, by whom, and for how long."), shown);
}

function since(current) {
  if (!current || current.of_settings) return el("p", { class: "quiet" }, "The policy of the service's settings", current && several(", again since ", when(current.put_at), ` by ${current.by}`), ".");
  return el("p", { class: "quiet" }, `Version ${current.version}, put in force `, when(current.put_at), ` by ${current.by}`, current.restored ? `, as version ${current.restored} was` : "", ".");
}

function history(versions, refresh) {
  if (versions.length === 0) return empty("None yet", "The policy has not been changed here.");
  const current = versions[0];
  const back = async (version, words) => {
    const sure = await ask(`Go back to ${words}?`, el("p", {}, "It applies in every process within seconds, as the next version."), { act: "Go back" });
    if (sure === null) return;
    const put = () => call("POST", "/v1/policy/rollback", { body: { version }, ifMatch: current.version });
    if (await attempt(put, `Back to ${words}`)) await refresh();
  };
  return several(
    table("Versions", ["Version", "Since", "By", ""], versions.map((one, place) => [
      several(number(one.version), one.of_settings ? el("span", { class: "quiet" }, " · the settings") : one.restored && el("span", { class: "quiet" }, ` · as ${one.restored}`)),
      when(one.put_at),
      one.by,
      place === 0 ? "in force" : !one.of_settings && button("Go back to this", () => back(one.version, `version ${one.version}`), { "aria-label": `Go back to version ${one.version}` }),
    ])),
    !current.of_settings && el("div", { class: "actions" }, button("Go back to the service's settings", () => back(0, "the service's settings"), { kind: "quiet" })),
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

function editor(policy, version, signal, refresh) {
  const text = el("textarea", { name: "policy", rows: "18", class: "code", spellcheck: "false" }, JSON.stringify(policy, null, 2));
  const said = el("div", { "aria-live": "polite" });
  const draft = () => {
    try {
      return JSON.parse(text.value);
    } catch (mistake) {
      said.replaceChildren(el("div", { class: "failure", role: "alert" }, el("p", {}, "This is not valid JSON yet."), el("p", { class: "quiet" }, mistake.message)));
      text.focus();
      return null;
    }
  };
  const dryRun = async () => {
    const proposed = draft();
    if (proposed === null) return;
    said.replaceChildren(el("p", { class: "quiet" }, "Testing on existing memories…"));
    try {
      said.replaceChildren(verdict(await tried(proposed, signal)));
    } catch (problem) {
      if (!signal.aborted) said.replaceChildren(failure(problem));
    }
  };
  const put = async () => {
    const proposed = draft();
    if (proposed === null) return;
    const about = el("p", {}, "It replaces the current policy in every process within seconds. You can go back to any version.");
    if ((await ask("Put this policy in force?", about, { act: "Put it in force" })) === null) return;
    try {
      await call("PUT", "/v1/policy", { body: { policy: proposed }, ifMatch: version });
    } catch (problem) {
      return said.replaceChildren(failure(problem));
    }
    await refresh();
    say("The policy is in force");
  };
  const keep = () => {
    const proposed = draft();
    if (proposed !== null) download("policy.json", new Blob([JSON.stringify(proposed, null, 2)], { type: "application/json" }));
  };
  const form = el("div", {});
  const fill = (shown) => form.replaceChildren(policyForm(shown, (changed) => (text.value = JSON.stringify(changed, null, 2))));
  const startOver = () => ((text.value = JSON.stringify(policy, null, 2)), fill(policy), said.replaceChildren());
  text.addEventListener("input", () => {
    try {
      fill(JSON.parse(text.value));
    } catch {
      // it is told when the policy is tried or put in force
    }
  });
  fill(policy);
  return several(
    form,
    field("The policy as JSON", text, "Form and text show the same policy. Nothing changes until you put it in force. Personal data (redaction), entities and judged are set in the service's settings."),
    el("div", { class: "actions" }, button("Test on existing memories", dryRun, { kind: "primary" }), button("Put it in force", put), button("Save as a file", keep), button("Start over", startOver, { kind: "quiet" })),
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
    el("p", { role: "status" }, el("strong", {}, `${counted(count, "memory", "memories")} tested. `), reasons.length === 0 ? "This policy would have accepted all of them." : "This policy would have refused:"),
    reasons.length > 0 && table("Refused by reason", ["Reason", "Memories"], reasons.map(([reason, number_]) => [several(inWords(reason), " ", el("code", { class: "quiet" }, reason)), number(number_)])),
    changed.length === 0
      ? empty("Nothing would change", "Both policies treat every existing memory the same way.")
      : several(el("h3", {}, `${counted(changed.length, "memory", "memories")} judged differently`), table("Judged differently", ["Key", "Now", "Then"], changed.slice(0, 100).map((one) => [one.key ? el("code", {}, one.key) : "without a key", one.now ? inWords(one.now) : "let in", one.then ? inWords(one.then) : "let in"]))),
  );
}
