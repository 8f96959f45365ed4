/** When each version of a memory held, drawn to scale; the list of versions says the same in words. */

import { el, several, svg } from "./elements.js";
import { day, spaced } from "./words.js";

const WIDTH = 900;
const ROW = 26;

/** @param {any[]} versions oldest first */
export function timeline(versions) {
  const spans = versions.map((version, at) => ({
    name: `v${version.version}`,
    status: version.status,
    from: Date.parse(version.valid_from ?? version.updated_at),
    until: end(version, versions[at + 1]),
  }));
  const first = Math.min(...spans.map((span) => span.from));
  const last = Math.max(Date.now(), ...spans.map((span) => span.until ?? 0));
  const across = (moment) => 40 + ((moment - first) / Math.max(1, last - first)) * (WIDTH - 60);
  const height = spans.length * ROW + 24;
  const said = spans.map((span) => `${span.name}, ${spaced(span.status)}: ${day(new Date(span.from).toISOString())} to ${span.until ? day(new Date(span.until).toISOString()) : "now"}`);
  return several(
    el("figure", { class: "timeline" },
      svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": said.join("; ") },
        svg("line", { class: "now", x1: across(Date.now()), x2: across(Date.now()), y1: 0, y2: height - 18 }),
        spans.map((span, at) => bar(span, at, across)),
        svg("text", { x: 40, y: height - 2 }, day(new Date(first).toISOString())),
        svg("text", { x: across(Date.now()), y: height - 2, "text-anchor": "end" }, "today"))),
  );
}

/** When a version stopped holding: when it says so, or when the next one was written; null while it holds. */
function end(version, next) {
  if (version.valid_to) return Date.parse(version.valid_to);
  if (next) return Date.parse(next.updated_at);
  return version.status === "active" ? null : Date.parse(version.updated_at);
}

function bar({ name, status, from, until }, at, across) {
  const y = at * ROW + 4;
  const width = Math.max(4, across(until ?? Date.now()) - across(from));
  return svg("g", { class: `bar is-${status}` },
    svg("text", { x: 32, y: y + 13, "text-anchor": "end" }, name),
    svg("rect", { x: across(from), y, width, height: ROW - 8, rx: 4 }));
}
