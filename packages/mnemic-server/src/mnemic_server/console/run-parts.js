/** Parts of the pages that show runs: to their user, and to an operator who stated a reason. */

import { el, several } from "./dom.js";
import { badge, facts, panel, when } from "./components.js";
import { dateTime, inWords, number, spaced } from "./labels.js";

export const STAGES = [["retrieved", "Retrieved"], ["injected", "Injected"], ["cited", "Cited"], ["verified", "Verified"]];

/** What was asked, shown and answered, where policy keeps it. */
export function said(run) {
  return run.question === null ? texts(run) : panel("Question and answer", texts(run));
}

function texts(run) {
  if (run.question === null) return el("p", { class: "quiet" }, "Question and answer were not kept: the policy (keep_turns) decides.");
  return several(
    el("h3", {}, "Asked"), el("blockquote", {}, run.question),
    run.block_text && several(el("h3", {}, "Shown to the model"), el("pre", { class: "block", tabindex: "0" }, run.block_text)),
    el("h3", {}, "Answered"), run.answer === null ? el("p", { class: "quiet" }, "The answer went only to the program.") : el("blockquote", {}, run.answer));
}

/** A run of somebody else as an entry that opens: what was asked, shown and answered, and which memories were used. */
export function openedRun(run) {
  const ms = run.ms ?? run.steps.reduce((sum, step) => sum + step.ms, 0);
  const named = [...new Set(STAGES.flatMap(([name]) => run[name]))];
  return el("details", { class: "row run" },
    el("summary", {}, el("span", { class: "content" }, run.question ?? dateTime(run.at)), el("span", { class: "meta" }, el("span", { class: "tag" }, adapterName(run.adapter)), badge(run.status), el("span", {}, inWords(run.stop_reason)), when(run.at))),
    texts(run),
    facts([["Agent", run.agent], ["Tokens", run.tokens === null ? null : number(run.tokens)], ["Took", `${number(Math.round(ms))} ms`], ...STAGES.map(([name, words]) => [words, number(run[name].length)])]),
    named.length > 0 && el("ol", { class: "rows" }, named.map((name) => el("li", {}, run.known.get(name) ?? el("span", { class: "quiet" }, "a memory that is gone or hidden"), run.cited.includes(name) && el("span", { class: "tag" }, "cited")))));
}

const ADAPTERS = { context: "block for a prompt", search_memory: "the model's own search", mcp: "MCP", chat: "mnemic chat", agent: "an agent", langgraph: "LangGraph", langchain: "LangChain", strands: "Strands Agents", adk: "Google ADK", ag2: "AG2", autogen: "AutoGen", crewai: "CrewAI", litellm: "LiteLLM", "claude-agent": "Claude Agent SDK", "openai-agents": "OpenAI Agents", "pydantic-ai": "Pydantic AI", "agent-framework": "Agent Framework", "llama-index": "LlamaIndex" };

export function adapterName(name) {
  return ADAPTERS[name] ?? spaced(name);
}
