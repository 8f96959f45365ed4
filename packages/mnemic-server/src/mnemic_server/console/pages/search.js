/** Searching one's memory, and why each hit is there. */

import { acts, mayChange } from "../acts.js";
import { call } from "../api.js";
import { el, several, svg } from "../dom.js";
import { badge, choice, empty, failure, field, head, masked, MARKER, provenance } from "../components.js";
import { linkTo, placeNamed } from "../page-list.js";
import { ratedAs } from "../rating.js";
import { counted, inWords, kindWords, listWords, percent, sentence, topic, whyWords } from "../labels.js";

const KINDS = [["", "every kind"], ...["long_term", "persona", "episodic", "entity", "structured"].map((kind) => [kind, kindWords(kind)])];

/** As in `mnemic.types.search`: a less relevant hit hardly concerns the query, and a message below this part of it. */
const LEAST = 0.17, OF_A_MESSAGE = 0.3;
/** Hits shown where none is likely to be about the query. */
const NEAREST = 3;

/** @param {any} context */
export async function show({ who, query, signal }) {
  const words = el("textarea", { name: "q", rows: "1", enterkeyhint: "search", placeholder: "What do you want to know?", "aria-label": "Search your memory", autofocus: true, on: { keydown: (event) => event.key === "Enter" && (event.preventDefault(), form.requestSubmit()) } }, query.get("q") ?? "");
  const kind = choice(KINDS, { name: "kind", value: query.get("kind") ?? "" });
  const least = el("input", { type: "number", name: "min", min: "0", max: "100", step: "5", value: query.get("min") ?? "", placeholder: "0" });
  const asOf = el("input", { type: "date", name: "as_of", value: query.get("as_of") ?? "" });
  const askedOn = el("input", { type: "date", name: "asked_at", value: query.get("asked_at") ?? "" });
  const found = el("div", { "aria-live": "polite" });

  async function look() {
    history.replaceState(null, "", linkTo("search", null, given({ q: words.value, kind: kind.value, as_of: asOf.value, asked_at: askedOn.value, min: least.value })));
    found.replaceChildren(el("p", { class: "quiet", role: "status" }, "Searching…"));
    try {
      found.replaceChildren(results(await call("POST", "/v1/search", { body: asked(words.value, kind.value, asOf.value, askedOn.value, least.value), signal }), who, look));
    } catch (problem) {
      if (!signal.aborted) found.replaceChildren(failure(problem, look));
    }
  }

  const form = el(
    "form",
    { class: "search", role: "search", on: { submit: (event) => (event.preventDefault(), look()) } },
    el("div", { class: "ask" }, words, el("button", { type: "submit", class: "button primary" }, svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: placeNamed("search").icon })), el("span", {}, "Search"))),
    el("details", { open: [kind, asOf, askedOn, least].some((one) => one.value !== "") }, el("summary", {}, "Filters"),
      el("div", { class: "narrow" }, field("Kind", kind), field("As it was on", asOf), field("Asked on", askedOn), field("Minimum match (%)", least))),
  );
  kind.addEventListener("change", look);
  asOf.addEventListener("change", look);
  askedOn.addEventListener("change", look);
  least.addEventListener("change", look);
  await look();
  return several(head("Search", null), form, found);
}

function given(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ""));
}

/** The body of the request; "last week" in the query is that of the day it is asked on. */
function asked(query, kind, asOf, askedOn, least) {
  const share = Math.min(Math.max(Number(least) / 100, 0), 1) || 0;
  return { query, top_k: 20, min_score: share, ...(kind ? { kinds: [kind] } : {}), ...(asOf ? { as_of: `${asOf}T23:59:59Z` } : {}), ...(askedOn ? { asked_at: `${askedOn}T12:00:00Z` } : {}) };
}

function results({ hits, errors, query, abstains }, who, look) {
  const failed = Object.entries(errors);
  const note = failed.length > 0 && el("p", { class: "note" }, "Some searches failed: ", failed.map(([name, reason]) => `${listWords(name)} (${inWords(reason)}) `));
  if (hits.length === 0) {
    return several(note, query ? empty("Nothing found", "Try other words, or search all kinds.") : empty("Nothing remembered yet", "What is remembered appears here.", el("a", { class: "button primary", href: "#/live" }, "Remember something")));
  }
  const near = query ? hits.findLastIndex(concerns) + 1 : hits.length;
  const shown = hits.slice(0, near || NEAREST), rest = hits.slice(near || NEAREST);
  return several(
    note,
    el("p", { class: "quiet", role: "status" }, query ? tally(shown) : "The newest"),
    abstains && el("p", { class: "note" }, "No memory seems relevant; these are the nearest."),
    list(shown, query, who, look),
    rest.length > 0 && el("details", { class: "rest" }, el("summary", {}, `${rest.length} less relevant`), list(rest, query, who, look)),
  );
}

/** @type {Record<string, [string, string?]>} */
const SORTS = { episodic: ["event"], entity: ["person or thing", "people and things"], structured: ["record"] };

/** How many there are of each sort: "1 memory, 2 events". */
function tally(hits) {
  /** @type {Array<[string, string?]>} */ const sorts = hits.map(({ memory }) => SORTS[memory.kind] ?? ["memory", "memories"]);
  const names = [...new Set(sorts.map(([one]) => one))];
  return names.map((name) => counted(sorts.filter(([one]) => one === name).length, name, sorts.find(([one]) => one === name)?.[1])).join(", ");
}

function list(hits, query, who, look) {
  return el("ol", { class: "hits" }, hits.map((hit) => el("li", {}, card(hit, query, who, look))));
}

/** Whether a hit is likely enough to be about the query; one message of a conversation says little by itself. */
function concerns({ memory, relevance, reason }) {
  const least = LEAST * (memory.category === "message" ? OF_A_MESSAGE : 1);
  return reason === "standing" || relevance === null || relevance === undefined || relevance >= least;
}

/** The words of a query that are looked for in a text. */
const wordsOf = (query) => query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];

/** A text with the words of the query marked. */
function marked(text, query) {
  return text.split(/([\p{L}\p{N}]+)/u).map((part) => (isAsked(part, query) ? el("mark", {}, part) : part));
}

/** Whether a word is one of the query, in this form or with another ending: "seat" and "seats". */
function isAsked(part, query) {
  const same = (one, other) => one.startsWith(other) && one.length - other.length < 3, own = part.toLowerCase();
  return own.length > 2 && wordsOf(query).some((word) => same(word, own) || same(own, word));
}

function card({ memory, score, relevance, why: told, ranks }, query, who, look) {
  const shown = relevance ?? score, text = sentence(memory), node = el("article", { class: "hit" });
  const match = query && el("span", { class: "score" }, el("meter", { min: "0", max: "1", value: shown, "aria-label": "Match" }), el("strong", {}, percent(shown)), " ", relevance === null || relevance === undefined ? "match" : [el("span", { class: "wide" }, "likely what you mean"), el("span", { class: "slim" }, "match")]);
  node.append(several(
    el("div", { class: "title" }, memory.kind !== "long_term" && el("span", { class: "tag" }, topic(memory.category === "message" ? "message" : kindWords(memory.kind))),
      el("h2", { class: "content" }, el("a", { href: linkTo("memory", memory.memory_id) }, MARKER.test(text) ? masked(text) : marked(text, query)))),
    memory.status !== "active" && badge(memory.status),
    memory.context && el("p", { class: "body" }, marked(memory.category === "message" ? `In answer to: ${memory.context}` : memory.context, query)),
    provenance({ ...memory, kind: "long_term" }, "you", match),
    query && el("details", { class: "why" }, el("summary", {}, el("span", {}, el("span", {}, "Why"), " ", el("span", { class: "told" }, whyWords(told)))), why(score, ranks)),
    acts(memory, node, ratedAs(ranks), look, mayChange(memory, who))));
  return node;
}

function why(score, ranks) {
  const rows = Object.entries(ranks).sort(([, one], [, other]) => one.position - other.position);
  return several(
    el("p", { class: "quiet" }, `Its place in each list that was searched. Together they give the score ${score}, by which hits are ordered.`),
    el("ul", { class: "ranks" }, rows.map(([name, rank]) => el("li", {}, el("span", { class: "place" }, `#${rank.position}`), ` by ${listWords(name)}`, name !== "recency" && el("span", { class: "quiet" }, ` score ${rank.score}`)))),
  );
}
