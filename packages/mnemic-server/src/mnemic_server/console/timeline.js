/** When something held: each wording with its days, and a bar to scale. */

import { el, several, svg } from "./dom.js";
import { masked } from "./components.js";
import { day, statusWords } from "./labels.js";
import { linkTo } from "./page-list.js";

/** @typedef {{when: string, text: string, link: string | null, status: string, from: number, until: number | null}} Span `when`: now, before or after, in a word */

/** @param {Span[]} spans newest first; `until` null: it holds @param {any} [act] what can be done about them */
export function timeline(spans, act = null) {
  const now = Date.now(), first = Math.min(...spans.map((span) => span.from)), last = Math.max(now, ...spans.map((span) => span.until ?? 0));
  const across = (moment) => (100 * (moment - first)) / Math.max(1, last - first);
  return several(el("ol", { class: "spans" }, spans.map(({ when, text, link, status, from, until }) => el("li", { class: `span-${status}` },
    el("strong", {}, when),
    el("span", { class: "quiet" }, until ? `${day(from)} to ${day(until)}` : `since ${day(from)}`, status !== "active" && status !== "superseded" && `, ${statusWords(status)}`),
    link ? el("a", { class: "content", href: link }, masked(text)) : el("span", { class: "content" }, masked(text)),
    svg("svg", { viewBox: "0 0 100 1", preserveAspectRatio: "none", "aria-hidden": "true" }, svg("rect", { width: 100, height: 1 }), svg("rect", { class: "held", x: across(from), width: Math.max(1, across(until ?? now) - across(from)), height: 1 }))))),
    el("p", { class: "axis", "aria-hidden": "true" }, el("span", {}, day(first)), el("span", {}, last > now ? day(last) : "today")),
    act);
}

/** The spans of a memory: what took its place, its versions, and what it took the place of. */
export function spansOf(versions, earlier, later) {
  const other = (when) => (one) => ({ ...spanOf(one), when, link: linkTo("memory", one.memory_id) });
  const own = versions.map((version, at) => ({ ...spanOf(version, versions[at + 1]), when: "Before" })).toReversed();
  return [...later.toReversed().map(other("After")), { ...own[0], when: later.length > 0 ? "This one" : "Now" }, ...own.slice(1), ...earlier.map(other("Before"))];
}

/** Of one version: it held until it says so, until the next was written, or until it was closed. */
function spanOf(version, next) {
  const from = Date.parse(version.valid_from ?? (version.version === 1 || !next ? version.created_at : version.updated_at));
  const closed = version.status === "active" || version.status === "pending_review" ? null : Date.parse(version.updated_at);
  const until = version.valid_to ? Date.parse(version.valid_to) : next ? Date.parse(next.updated_at) : closed;
  return { when: "", text: version.content, link: null, status: next ? "superseded" : version.status, from: Math.min(from, until ?? from), until };
}
