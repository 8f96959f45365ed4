/** Episodes: what was tried, step by step, how it ended, and what was said of it afterwards; in the order of time. */

import { call } from "../api.js";
import { el, several } from "../dom.js";
import { empty, head, paged, when } from "../components.js";
import { linkTo } from "../page-list.js";
import { day } from "../labels.js";

const ENDINGS = { success: ["worked", "is-active"], failure: ["failed", "is-rejected"], partial: ["half done", "is-pending_review"] };

export function show() {
  let shown = "";
  const dated = (episode) => {
    const date = day(episode.happened_at);
    const fresh = date !== shown;
    shown = date;
    return several(fresh && el("h2", { class: "date" }, date), card(episode));
  };
  const nothing = empty("No episodes yet", "When an agent records what it tried and how it ended, you will see it here. Recorded messages are under My memory.");
  const load = (cursor) => call("GET", "/v1/episodes", { query: { limit: 20, cursor } }).then(({ episodes, next }) => ({ items: episodes, next }));
  const node = paged(load, dated, nothing);
  return several(head("Episodes", "What was tried, how it went, and what came of it. Latest first."), el("div", { class: "chronicle" }, node));
}

function card(episode) {
  const [words, tone] = ENDINGS[episode.outcome] ?? [episode.outcome, ""];
  return el("article", { class: "card" },
    el("div", { class: "row" },
      el("h3", { class: "content" }, el("a", { href: linkTo("memory", episode.memory_id) }, episode.task)),
      el("p", { class: "meta" }, el("span", { class: `badge ${tone}` }, words), when(episode.happened_at))),
    el("ol", { class: "path" }, episode.steps.map((step) => el("li", { class: step.ok ? "ok" : "bad" }, el("strong", {}, step.action), step.result && `: ${step.result}`, el("span", { class: "unseen" }, step.ok ? " (worked)" : " (failed)")))),
    episode.feedback.map((said) => el("blockquote", {}, said)));
}
