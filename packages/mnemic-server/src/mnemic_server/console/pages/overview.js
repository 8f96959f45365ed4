/** State of the service: what there is, what waits, how fast and how well the service answers. Kept up to date while it is open. */

import { call } from "../api.js";
import { activityCharts } from "../charts.js";
import { el, several } from "../dom.js";
import { onChange } from "../live.js";
import { empty, head, panel, provenance, table } from "../components.js";
import { linkTo, mayOpen, placeNamed } from "../page-list.js";
import { keptFor, kindName, listWords, number, percent, size, spaced } from "../labels.js";

/** @param {any} context */
export async function show({ who, signal }) {
  const body = el("div", { class: "stack" });
  const draw = async () => body.replaceChildren(await filled(who, signal));
  await draw();
  onChange(signal, () => draw().catch(() => {}), 1500);
  return several(head("Overview", `Signed in as ${who.user ?? "an application"} of the tenant ${who.tenant}.`), body);
}

async function filled(who, signal) {
  const operator = who.roles.includes("operator");
  const may = (name) => mayOpen(placeNamed(name), who);
  const [state, days, mine, queue, newest] = await Promise.all([
    operator && call("GET", "/v1/overview", { signal }),
    operator && call("GET", "/v1/overview/days", { query: { days: 30 }, signal }),
    !operator && may("search") && call("GET", "/v1/kinds", { signal }),
    !operator && may("review") && call("GET", "/v1/reviews", { query: { limit: 1 }, signal }),
    may("search") && call("GET", "/v1/memories", { query: { limit: 5 }, signal }),
  ]);
  return several(
    state && figures(state),
    !state && el("div", { class: "tiles" }, mine && tile("Memories about you", number(sum(mine.kinds, "held"))), queue && waitingTile(queue.waiting)),
    state && unwell(state),
    days && panel("Activity", activityCharts(days)),
    el("div", { class: "halves" },
      state && panel("What is held", held(state.held)),
      !state && mine && panel("What is held", table("Memories by kind", ["Kind", "Memories", "Kept for"], mine.kinds.filter((one) => one.held !== null).map((one) => [kindName(one.kind), number(one.held), keptFor(one)]))),
      newest && !(state && newest.memories.length === 0) && panel("Newest memories", latest(newest.memories, may("live")))),
    state && panel("How fast it answers", latencies(state.process.latency)),
  );
}

function sum(rows, name) {
  return rows.reduce((total, row) => total + (row[name] ?? 0), 0);
}

function tile(name, value, note, href) {
  const words = several(el("span", { class: "tile-name" }, name), el("span", { class: "tile-value" }, value), note && el("span", { class: "quiet" }, note));
  return href ? el("a", { class: "tile", href }, words) : el("div", { class: "tile" }, words);
}

function waitingTile(count) {
  return tile("Waiting for review", number(count), count > 0 ? "open the review desk" : "nothing to decide", "#/review");
}

function figures({ held: kinds, waiting, process }) {
  const rows = Object.values(kinds);
  const { hit_rate: rate, found, empty: nothing } = process.searches;
  const search = process.latency.find((one) => one.route === "/v1/search");
  return el("div", { class: "tiles" },
    tile("Memories held", number(sum(rows, "rows")), `${number(sum(rows, "recent"))} in the last 24 hours`),
    waitingTile(waiting),
    tile("Searches with a hit", rate === null ? "–" : percent(rate), found + nothing === 0 ? "no search yet" : `of ${number(found + nothing)}`),
    tile("Search time, 95th percentile", search ? `${search.p95_ms} ms` : "–", search ? `half within ${search.p50_ms} ms` : "no search yet"));
}

/** What does not work or is behind; said also when all is well. */
function unwell({ process, projections }) {
  const parts = Object.entries(process.degraded).filter(([, count]) => count > 0);
  const late = Object.entries(projections).filter(([, behind]) => behind > 0);
  const failed = process.requests["5xx"] ?? 0;
  if (parts.length + late.length + failed === 0) return el("p", { class: "well" }, "Everything works: no failed request, no degraded part, nothing behind.");
  return panel("What needs attention", el("ul", { class: "rows" },
    failed > 0 && el("li", {}, `${number(failed)} requests failed in this process.`),
    parts.map(([name, count]) => el("li", {}, `Search by ${listWords(name)} failed ${number(count)} times.`)),
    late.map(([name, behind]) => el("li", {}, `${spaced(name)} is ${number(behind)} changes behind.`))));
}

function held(kinds) {
  const rows = Object.entries(kinds).sort(([, one], [, other]) => other.rows - one.rows);
  if (rows.length === 0) return empty("Nothing remembered yet", "The first memory appears here at once.");
  const most = Math.max(...rows.map(([, one]) => one.rows));
  return table("Memories by kind", ["Kind", "Memories", "", "Size"], rows.map(([kind, one]) => [
    kindName(kind),
    el("span", { class: "number" }, number(one.rows)),
    el("meter", { class: "bar", min: "0", max: most, value: one.rows, "aria-label": `${kindName(kind)} of the largest` }),
    size(one.bytes),
  ]));
}

function latest(memories, may) {
  if (memories.length === 0) {
    return empty("Nothing remembered yet", "What agents and people remember for you appears here.", may && el("a", { class: "button primary", href: "#/live" }, "Remember something"));
  }
  return el("ul", { class: "rows" }, memories.map((memory) => el("li", {}, el("a", { class: "content", href: linkTo("memory", memory.memory_id) }, memory.content), provenance(memory))));
}

function latencies(routes) {
  const busy = routes.filter((one) => one.route.startsWith("/v1/")).sort((one, other) => other.count - one.count).slice(0, 8);
  if (busy.length === 0) return el("p", { class: "quiet" }, "No call has been answered yet.");
  return table("Latency by call", ["Call", "Answered", "Half within", "95 of 100", "99 of 100"], busy.map((one) => [
    el("code", {}, `${one.method} ${one.route}`),
    number(one.count),
    `${one.p50_ms} ms`,
    `${one.p95_ms} ms`,
    `${one.p99_ms} ms`,
  ]));
}
