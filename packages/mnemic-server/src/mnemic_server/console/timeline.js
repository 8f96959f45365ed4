/** When something held, drawn to scale. Who cannot see it is read the same in words. */

import { el, svg } from "./dom.js";
import { narrow } from "./components.js";
import { day, statusWords } from "./labels.js";

const LEFT = 92;
const ROW = 26;

/** @typedef {{label: string, status: string, from: number, until: number | null}} Span */

/** @param {Span[]} spans from top to bottom; `until` null: it holds */
export function timeline(spans) {
  const now = Date.now();
  const width = narrow() ? 330 : 900; // drawn as wide as the window lets it be read
  const first = Math.min(...spans.map((span) => span.from));
  const last = Math.max(now, ...spans.map((span) => span.until ?? 0));
  const across = (moment) => LEFT + ((moment - first) / Math.max(1, last - first)) * (width - LEFT - 20);
  const height = spans.length * ROW + 24;
  const free = (moment) => across(moment) - across(first) > 104 && across(now) - across(moment) > 96;
  const turns = spans.map((span) => span.from).filter((from, at, all) => free(from) && all.findIndex((one) => Math.abs(across(one) - across(from)) < 96) === at);
  const said = spans.map((span) => `${span.label}, ${statusWords(span.status)}: ${dayOf(span.from)} to ${span.until ? dayOf(span.until) : "now"}`);
  return el(
    "figure",
    { class: "timeline" },
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": said.join("; ") },
      svg("line", { class: "now", x1: across(now), x2: across(now), y1: 0, y2: height - 18 }),
      spans.map((span, at) => bar(span, at, across)),
      svg("text", { x: LEFT, y: height - 6 }, dayOf(first)),
      turns.map((from) => svg("text", { x: across(from), y: height - 6 }, dayOf(from))),
      svg("text", { x: across(now), y: height - 6, "text-anchor": "end" }, "today")),
  );
}

/** The spans of a memory: what it took the place of, its versions, and what took its place. */
export function spansOf(versions, earlier, later) {
  return [
    ...earlier.toReversed().map((one) => spanOf("before", one)),
    ...versions.map((version, at) => spanOf(`version ${version.version}`, version, versions[at + 1])),
    ...later.map((one) => spanOf("since", one)),
  ];
}

/** Of one version: it held until it says so, until the next was written, or until it was closed. */
function spanOf(label, version, next) {
  const from = Date.parse(version.valid_from ?? (version.version === 1 || !next ? version.created_at : version.updated_at));
  const closed = version.status === "active" || version.status === "pending_review" ? null : Date.parse(version.updated_at);
  const until = version.valid_to ? Date.parse(version.valid_to) : next ? Date.parse(next.updated_at) : closed;
  return { label, status: next ? "superseded" : version.status, from: Math.min(from, until ?? from), until };
}

function dayOf(moment) {
  return day(new Date(moment).toISOString());
}

function bar({ label, status, from, until }, at, across) {
  const y = at * ROW + 4;
  const width = Math.max(4, across(until ?? Date.now()) - across(from));
  return svg("g", { class: `bar is-${status}` },
    svg("text", { x: LEFT - 10, y: y + 13, "text-anchor": "end" }, label),
    svg("rect", { x: across(from), y, width, height: ROW - 8, rx: 4 }));
}
