/** What there is, and what one can do about it. */

import { call } from "../api.js";
import { el, several } from "../elements.js";
import { empty, head, panel, provenance } from "../parts.js";
import { linkTo, mayOpen, placeNamed } from "../places.js";
import { counted } from "../words.js";

/** @param {any} context */
export async function show({ who, signal }) {
  const newest = mayOpen(placeNamed("search"), who) ? await call("GET", "/v1/memories", { query: { limit: 5 }, signal }) : null;
  const waiting = mayOpen(placeNamed("review"), who) ? await call("GET", "/v1/reviews", { query: { limit: 200 }, signal }) : null;
  return several(
    head("Overview", `Signed in for ${who.user ?? "an application"} in ${who.tenant}.`),
    waiting && reviews(waiting),
    newest && latest(newest, who),
  );
}

function reviews({ reviews: queue, next }) {
  if (queue.length === 0) return panel("Review desk", el("p", { class: "quiet" }, "Nothing waits for review."));
  return panel("Review desk", el("p", {}, el("strong", {}, next ? `More than ${queue.length} memories` : counted(queue.length, "memory", "memories")), " waiting for a decision. ", el("a", { href: "#/review" }, "Review them")));
}

function latest({ memories }, who) {
  if (memories.length === 0) {
    const add = mayOpen(placeNamed("remember"), who) && el("a", { class: "button primary", href: "#/remember" }, "Remember something");
    return panel("Newest memories", empty("Nothing remembered yet", "What agents and people remember for you appears here.", add));
  }
  return panel("Newest memories", el("ul", { class: "rows" }, memories.map((memory) => el("li", {}, el("a", { class: "content", href: linkTo("memory", memory.memory_id) }, memory.content), provenance(memory)))));
}
