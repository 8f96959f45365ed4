/** Turns of an agent, and what became of the memories in each: found, put before the model, cited, verified. */

import { call, sender } from "../api.js";
import { el, several } from "../elements.js";
import { badge, empty, facts, failure, field, head, paged, panel, table, when } from "../parts.js";
import { linkTo } from "../page-list.js";
import { counted, dateTime, inWords, number, spaced } from "../words.js";

const STAGES = [["retrieved", "Retrieved"], ["injected", "Injected"], ["cited", "Cited"], ["verified", "Verified"]];

/** @param {any} context */
export function show(context) {
  return context.argument ? one(context) : all(context);
}

function all({ who }) {
  const nothing = empty("No run yet", "When an agent answers with the help of your memory, you see here what it used.");
  const node = paged((cursor) => call("GET", "/v1/runs", { query: { limit: 20, cursor } }).then(({ runs, next }) => ({ items: runs, next })), row, nothing);
  return several(head("Runs", "Which memories were found, put before the model, cited in the answer, and proven."), who.roles.includes("writer") && question(), panel("Latest runs", node));
}

function row(run) {
  return el("div", { class: "row" },
    el("div", {}, el("a", { class: "content", href: linkTo("runs", run.run_id) }, dateTime(run.at)), el("p", { class: "meta" }, badge(run.status), el("span", {}, inWords(run.stop_reason)), when(run.at))),
    el("p", { class: "meta flow" }, STAGES.map(([name, words], at) => [at > 0 && el("span", { "aria-hidden": "true" }, "→"), el("span", {}, el("strong", {}, number(run[name].length)), ` ${words.toLowerCase()}`)])));
}

function question() {
  const goal = el("input", { name: "goal", required: true, maxlength: "2000", placeholder: "Which seat should I book?" });
  const answer = el("div", { "aria-live": "polite" });
  const run = sender("/v1/runs");
  const send = async (event) => {
    event.preventDefault();
    answer.replaceChildren(el("p", { class: "quiet" }, "Working…"));
    try {
      const report = await run({ goal: goal.value });
      answer.replaceChildren(
        el("blockquote", {}, report.answer ?? inWords(report.stop_reason)),
        el("p", { class: "meta" }, badge(report.status), el("a", { href: linkTo("runs", report.run_id) }, "See what it used")),
      );
    } catch (problem) {
      answer.replaceChildren(failure(problem));
    }
  };
  return panel("Try one", el("form", { class: "ask", on: { submit: send } }, field("Ask something that your memory knows", goal), el("button", { type: "submit", class: "button primary" }, "Ask")), answer);
}

async function one({ argument: runId, signal }) {
  const run = await call("GET", `/v1/runs/${encodeURIComponent(runId)}`, { signal });
  const known = new Map(run.memories.map((memory) => [memory.memory_id, memory]));
  const named = [...new Set(STAGES.flatMap(([name]) => run[name]))];
  return several(
    el("p", { class: "trail" }, el("a", { href: "#/runs" }, "Runs"), " / run"),
    head(`Run of ${dateTime(run.at)}`),
    el("p", { class: "meta" }, badge(run.status), el("span", {}, inWords(run.stop_reason)), run.outcome && el("span", {}, spaced(run.outcome))),
    el("ol", { class: "funnel" }, STAGES.map(([name, words]) => el("li", { class: run[name].length > 0 ? "full" : "" }, el("strong", {}, number(run[name].length)), el("span", {}, words)))),
    panel("The memories in it", named.length === 0
      ? empty("No memory was used", "Nothing that is remembered had to do with this run.")
      : table("How far each memory came", ["Memory", ...STAGES.map(([, words]) => words)], named.map((name) => [
          known.has(name) ? el("a", { class: "content", href: linkTo("memory", name) }, known.get(name).content) : el("span", { class: "quiet" }, "a memory that is gone"),
          ...STAGES.map(([stage]) => reached(run, stage, name)),
        ])),
      run.unverifiable.length > 0 && el("p", { class: "quiet" }, `${counted(run.unverifiable.length, "citation")} could neither be proven nor refuted from the answer.`)),
    panel("Steps", table("What the run did", ["Step", "Time", "Counts"], run.steps.map((step) => [
      several(spaced(step.phase), " ", !step.ok && badge("failed")),
      `${step.ms} ms`,
      facts(Object.entries(step).filter(([name]) => !["phase", "ms", "ok"].includes(name)).map(([name, value]) => [spaced(name), String(value)])),
    ]))),
  );
}

function reached(run, stage, name) {
  if (run[stage].includes(name)) return el("span", { class: "yes" }, "yes");
  if (stage === "verified" && run.unverifiable.includes(name)) return el("span", { class: "quiet" }, "cannot be told");
  return el("span", { class: "quiet" }, "no");
}
