/** Drawing names and relations: who is asked about in the middle, everybody else on rings, as far out as they are steps away. */

import { el, svg } from "./dom.js";
import { linkTo } from "./page-list.js";
import { spaced } from "./labels.js";

const WIDTH = 900;
const RING = 128;

/**
 * @param {string} name who stands in the middle @param {any[]} neighbours @param {any[]} relations
 */
export function drawing(name, neighbours, relations) {
  const places = placed(neighbours);
  const heights = [...places.values()].map((place) => place.y);
  const [top, bottom] = [Math.min(0, ...heights) - 45, Math.max(0, ...heights) + 45];
  const at = (node) => places.get(node) ?? { x: 0, y: 0 };
  return el(
    "figure",
    { class: "graph" },
    svg("svg", { viewBox: `${-WIDTH / 2} ${top} ${WIDTH} ${bottom - top}`, role: "group", "aria-label": `What is connected with ${name}; the table below says the same` },
      relations.map((one) => edge(at(one.source), at(one.target), spaced(one.relation))),
      node({ x: 0, y: 0 }, name, "centre", "#/entities"),
      neighbours.map((one) => node(at(one.node), one.name, one.label, linkTo("entities", one.name)))),
    el("figcaption", { class: "legend" }, [...new Set(neighbours.map((one) => one.label))].sort().map((label) => el("span", { class: `dot-${label}` }, spaced(label)))),
  );
}

/** Where each neighbour stands: on the ring of its distance, behind the one that leads to it, spread evenly. */
function placed(neighbours) {
  const places = new Map();
  const rings = Map.groupBy(neighbours, (one) => one.hops);
  for (const [hops, ring] of [...rings].sort(([one], [other]) => one - other)) {
    const towards = (one) => angleOf(places.get(leading(one)));
    const ordered = ring.toSorted((one, other) => towards(one) - towards(other) || one.name.localeCompare(other.name));
    const start = hops === 1 ? -Math.PI / 2 : towards(ordered[0]);
    ordered.forEach((one, at) => {
      const even = start + (2 * Math.PI * at) / ordered.length;
      const angle = hops === 1 ? even : spread(ordered, at, towards);
      places.set(one.node, { x: 1.55 * RING * hops * Math.cos(angle), y: RING * hops * Math.sin(angle), angle });
    });
  }
  return places;
}

/** The angle behind the one that leads there; those behind the same one fan out. */
function spread(ordered, at, towards) {
  const angle = towards(ordered[at]);
  const siblings = ordered.filter((one) => towards(one) === angle);
  return angle + 0.5 * (siblings.indexOf(ordered[at]) - (siblings.length - 1) / 2);
}

function angleOf(place) {
  return place?.angle ?? 0;
}

/** The node in front of the last one on the way there. */
function leading({ node: name, path }) {
  const last = path.at(-1);
  return last.source === name ? last.target : last.source;
}

function edge(from, to, words) {
  const [x, y] = [(from.x + to.x) / 2, (from.y + to.y) / 2];
  return svg("g", { class: "edge" },
    svg("line", { x1: from.x, y1: from.y, x2: to.x, y2: to.y }),
    svg("text", { x, y: y - 5, "text-anchor": "middle" }, words));
}

function node(place, name, label, href) {
  const shown = name.length > 18 ? `${name.slice(0, 17)}…` : name;
  const width = Math.max(64, shown.length * 8.2 + 28);
  return svg("a", { href, class: `node dot-${label}`, "aria-label": `${name}, ${spaced(label)}`, transform: `translate(${place.x} ${place.y})` },
    svg("rect", { x: -width / 2, y: -17, width, height: 34, rx: 17 }),
    svg("text", { "text-anchor": "middle", y: 5 }, shown));
}
