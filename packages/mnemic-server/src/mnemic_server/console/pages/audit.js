/** The audit of the tenant: who did what and when. It holds no content. */

import { call } from "../api.js";
import { el, several } from "../dom.js";
import { attempt, button, empty, failure, field, head, table, when } from "../components.js";
import { counted, spaced } from "../labels.js";

const LINES = 200;

/** @param {any} context */
export async function show({ query, signal }) {
  const lines = el("div", { "aria-live": "polite" });
  const action = el("input", { type: "search", name: "action", value: query.get("action") ?? "", autocomplete: "off" });
  const checked = el("div", { "aria-live": "polite" });
  let read = [];
  const draw = () => lines.replaceChildren(rows(read.filter((one) => `${one.action} ${one.actor}`.includes(action.value.trim()))));
  const load = async () => {
    try {
      read = await latest(signal);
      draw();
    } catch (problem) {
      if (!signal.aborted) lines.replaceChildren(failure(problem, load));
    }
  };
  const verify = () => attempt(async () => {
    const report = await call("GET", "/v1/audit/verification", { signal });
    const broken = report.broken_at !== null;
    checked.replaceChildren(el("p", { class: broken ? "wrong" : "good" }, broken ? `The chain is broken at line ${report.broken_at}.` : `${counted(report.lines, "line")} checked: nothing was changed or removed.`));
  }, "");
  action.addEventListener("input", draw);
  await load();
  return several(
    head("Audit", `The newest ${LINES} lines. Each is bound to the one before, so a change or a gap shows.`, button("Check the chain", verify, { kind: "primary" })),
    checked,
    el("div", { class: "narrow" }, field("Action or name", action)),
    lines,
  );
}

async function latest(signal) {
  const page = await call("GET", "/v1/audit", { query: { before: Number.MAX_SAFE_INTEGER, limit: LINES }, signal });
  return page.events.reverse();
}

function rows(events) {
  if (events.length === 0) return empty("No lines", "No activity matches these words.");
  return table("Lines of the audit", ["When", "Who", "What", "Of whom", "Reason"], events.map((one) => [
    when(one.at), one.actor, spaced(one.action), one.owner ?? one.level ?? "", el("span", {}, String(one.detail.reason ?? "")),
  ]));
}
