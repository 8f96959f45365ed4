/** Whether a memory was useful or wrong, said beside it wherever it is shown as used. */

import { call } from "./api.js";
import { attempt, button } from "./components.js";
import { el, svg } from "./dom.js";

const THUMB = "M7 21H4V10h3zm0-11 4-7c1.7 0 2.5 1.2 2.3 2.7L13 9h5.3a1.8 1.8 0 0 1 1.8 2.1l-1.2 8A2.2 2.2 0 0 1 16.7 21H7";

/** Two buttons that say whether a memory was useful; pressing the same one again takes it back. `now` is what was said before. */
export function rating(memory, now = "none") {
  const rate = async (verdict) => {
    const next = verdict === now ? "none" : verdict;
    const said = { useful: "It comes earlier in your searches.", wrong: "It comes later in your searches.", none: "Your rating is withdrawn." }[next];
    if (!(await attempt(() => call("PUT", `/v1/memories/${encodeURIComponent(memory.memory_id)}/rating`, { body: { verdict: next } }), said))) return;
    now = next;
    each.forEach(([node, value]) => node.setAttribute("aria-pressed", String(value === now)));
  };
  const each = [["Helpful", "useful"], ["Not helpful", "wrong"]].map(([label, verdict]) => [button([svg("svg", { class: `icon is-${verdict}`, viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: THUMB })), el("span", {}, label)], () => rate(verdict), { kind: "quiet", "aria-pressed": String(verdict === now), title: label, "aria-label": `${label}: ${memory.content}` }), verdict]);
  return el("span", { class: "rating" }, each.map(([node]) => node));
}

/** What the person said of a hit before, as its ranks show it. */
export function ratedAs(ranks) {
  const shift = ranks?.rating?.score ?? 0;
  return shift > 0 ? "useful" : shift < 0 ? "wrong" : "none";
}

/** What the person said of memories before, by their names. @param {AbortSignal} signal */
export async function ratings(signal) {
  const { ratings: given } = await call("GET", "/v1/ratings", { signal });
  return new Map(given.map(({ memory_id: name, verdict }) => [name, verdict]));
}
