/** Turns of an agent, and what became of the memories in each: found, shown to the model, cited, verified. */

import { call, sender } from "../api.js";
import { el, several } from "../dom.js";
import { badge, empty, facts, failure, field, head, paged, panel, table, when } from "../components.js";
import { linkTo } from "../page-list.js";
import { rating, ratings } from "../rating.js";
import { STAGES, adapterName, said } from "../run-parts.js";
import { counted, dateTime, inWords, number, spaced } from "../labels.js";

/** @param {any} context */
export function show(context) {
  return context.argument ? one(context) : all(context);
}

function all({ who }) {
  const nothing = empty("No runs yet", "When an agent answers with the help of your memory, you can see here what it used.");
  const node = paged((cursor) => call("GET", "/v1/runs", { query: { limit: 20, cursor } }).then(({ runs, next }) => ({ items: runs, next })), row, nothing);
  return several(head("Runs", "What each turn of an agent used: turns of this service, of the command line, and of your frameworks."), who.roles.includes("writer") && question(), panel("Latest runs", node));
}

function row(run) {
  if (run.adapter !== "run") return injectionRow(run);
  return el("div", { class: "row" },
    el("div", {}, el("a", { class: "content", href: linkTo("runs", run.run_id) }, run.question ?? dateTime(run.at)), run.answer && el("p", { class: "quiet" }, run.answer), el("p", { class: "meta" }, badge(run.status), el("span", {}, inWords(run.stop_reason)), when(run.at))),
    el("p", { class: "meta flow" }, STAGES.map(([name, words], at) => [at > 0 && el("span", { "aria-hidden": "true" }, "→"), el("span", {}, el("strong", {}, number(run[name].length)), ` ${words.toLowerCase()}`)])));
}

/** What an adapter put before its model: there is no answer that could cite it. */
function injectionRow(run) {
  return el("div", { class: "row" },
    el("div", {}, el("a", { class: "content", href: linkTo("runs", run.run_id) }, run.question ?? dateTime(run.at)), run.answer && el("p", { class: "quiet" }, run.answer), el("p", { class: "meta" }, el("span", { class: "tag" }, adapterName(run.adapter)), run.agent && el("span", {}, `agent ${run.agent}`), when(run.at))),
    el("p", { class: "meta flow" }, el("span", {}, el("strong", {}, number(run.injected.length)), " shown to the model"), run.tokens !== null && el("span", {}, el("strong", {}, number(run.tokens)), " tokens"), run.ms !== null && el("span", {}, `${run.ms} ms`)));
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
  return panel("Try one", el("form", { class: "ask", on: { submit: send } }, field("Ask something your memory can answer", goal), el("button", { type: "submit", class: "button primary" }, "Ask")), answer);
}

async function one({ argument: runId, signal }) {
  const [run, rated] = await Promise.all([call("GET", `/v1/runs/${encodeURIComponent(runId)}`, { signal }), ratings(signal)]);
  if (run.adapter !== "run") return injection(run, rated);
  const known = new Map(run.memories.map((memory) => [memory.memory_id, memory]));
  const named = [...new Set(STAGES.flatMap(([name]) => run[name]))];
  return several(
    el("p", { class: "trail" }, el("a", { href: "#/runs" }, "Runs"), " / run"),
    head(`Run on ${dateTime(run.at)}`),
    said(run),
    el("p", { class: "meta" }, badge(run.status), el("span", {}, inWords(run.stop_reason)), run.outcome && el("span", {}, spaced(run.outcome))),
    el("ol", { class: "funnel" }, STAGES.map(([name, words]) => el("li", { class: run[name].length > 0 ? "full" : "" }, el("strong", {}, number(run[name].length)), el("span", {}, words)))),
    panel("The memories in it", named.length === 0
      ? empty("No memory was used", "Nothing in memory was relevant to this run.")
      : table("How far each memory came", ["Memory", ...STAGES.map(([, words]) => words), "Was it useful?"], named.map((name) => [
          known.has(name) ? el("a", { class: "content", href: linkTo("memory", name) }, known.get(name).content) : el("span", { class: "quiet" }, "a memory that is gone"),
          ...STAGES.map(([stage]) => reached(run, stage, name)),
          known.has(name) ? rating(known.get(name), rated.get(name)) : "",
        ])),
      run.unverifiable.length > 0 && el("p", { class: "quiet" }, `${counted(run.unverifiable.length, "citation")} could be neither confirmed nor refuted from the answer.`)),
    panel("Steps", table("What the run did", ["Step", "Time", "Counts"], run.steps.map((step) => [
      several(spaced(step.phase), " ", !step.ok && badge("failed")),
      `${step.ms} ms`,
      facts(Object.entries(step).filter(([name]) => !["phase", "ms", "ok"].includes(name)).map(([name, value]) => [spaced(name), String(value)])),
    ]))),
  );
}

function injection(run, rated) {
  const known = new Map(run.memories.map((memory) => [memory.memory_id, memory]));
  return several(
    el("p", { class: "trail" }, el("a", { href: "#/runs" }, "Runs"), " / injection"),
    head(`Shown to a model on ${dateTime(run.at)}`),
    said(run),
    panel("How", facts([["By", adapterName(run.adapter)], ["Agent", run.agent], ["Memories", number(run.injected.length)], ["Tokens", run.tokens === null ? null : number(run.tokens)], ["Found in", run.ms === null ? null : `${run.ms} ms`], ["Digest of the block", run.block_sha256 && el("code", { class: "id" }, run.block_sha256.slice(0, 16))]])),
    panel("What the model was shown", el("ol", { class: "rows" }, run.injected.map((name) => (known.has(name)
        ? el("li", { class: "row" }, el("a", { class: "content", href: linkTo("memory", name) }, known.get(name).content), rating(known.get(name), rated.get(name)))
        : el("li", { class: "quiet" }, "a memory that is gone")))),
      el("p", { class: "quiet" }, "The memories are shown as they are now.")),
  );
}

function reached(run, stage, name) {
  if (run[stage].includes(name)) return el("span", { class: "yes" }, "yes");
  if (stage === "verified" && run.unverifiable.includes(name)) return el("span", { class: "quiet" }, "cannot tell");
  return el("span", { class: "quiet" }, "no");
}
