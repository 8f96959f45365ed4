/** For an operator: what is wrong, what it costs, how it grows. For others: what is known of them. Kept up to date. */

import { call } from "../api.js";
import { activityCharts } from "../charts.js";
import { el, several } from "../dom.js";
import { onChange } from "../live.js";
import { button, empty, head, linked, panel, provenance, table } from "../components.js";
import { firstSteps } from "../profile.js";
import { linkTo, mayOpen, placeNamed } from "../page-list.js";
import { counted, listWords, number, percent, size, spaced } from "../labels.js";

/** From how many memories on they are examined only when it is asked for: every one of them is read. */
const MANY = 5000;
/** Milliseconds for 95 of 100 searches from which an operator should look at it. */
const SLOW = 1000;
/** From how many calls on the slowest 5 of 100 are more than one call. */
const ENOUGH = 20;

/** @param {any} context */
export async function show({ who, signal }) {
  const body = el("div", { class: "stack" }), operator = who.roles.includes("operator");
  const found = el("div", { "aria-live": "polite" });
  const draw = async () => body.replaceChildren(operator ? await installation(who, signal, found) : await own(who, signal));
  await draw();
  onChange(signal, () => draw().catch(() => {}), 1500);
  return several(head("Overview", operator ? who.tenant !== "default" && who.tenant : "What is known about you, and what is new."), body);
}

async function installation(who, signal, found) {
  const [state, days, { quotas }, { webhooks }] = await Promise.all([
    call("GET", "/v1/overview", { signal }),
    call("GET", "/v1/overview/days", { query: { days: 30 }, signal }),
    call("GET", "/v1/tenant/quotas", { signal }),
    call("GET", "/v1/webhooks", { signal }),
  ]);
  const rows = Object.values(state.held), total = sum(rows, "rows");
  if (found.childElementCount === 0) {
    if (total > MANY) found.append(button("Examine the memories", () => examine(found, signal)));
    else examine(found, signal);
  }
  return several(
    panel("What needs attention", wrong(state, quotas, webhooks), found),
    figures(state, rows, total, days),
    activityCharts(days),
    panel("How fast it answers", latencies(state.process.latency)));
}

async function own(who, signal) {
  const may = (name) => mayOpen(placeNamed(name), who);
  const [known, queue, newest] = await Promise.all([
    may("search") && call("GET", "/v1/profile", { query: { max_tokens: 300 }, signal }),
    may("review") && call("GET", "/v1/reviews", { query: { limit: 1 }, signal }),
    may("search") && call("GET", "/v1/memories", { query: { limit: 5, kinds: "long_term" }, signal }),
  ]);
  const lines = known ? known.known_lines : [];
  return several(
    queue && queue.waiting > 0 && el("p", { class: "note" }, link(`${counted(queue.waiting, "memory waits", "memories wait")} for a decision.`, "review")),
    newest && newest.memories.length === 0 && lines.length === 0 && panel(null, empty("Nothing remembered yet", "What you tell an agent, and what your chats say, appears here.", firstSteps(who))),
    el("div", { class: "halves" },
      lines.length > 0 && panel("What holds now", el("ul", { class: "rows" }, lines.map(({ text, memory }) => el("li", {}, linked(memory, text[0].toUpperCase() + text.slice(1))))), may("mine") && el("p", {}, link("All of it, with its proof", "mine"))),
      newest && newest.memories.length > 0 && panel("Newest memories", el("ul", { class: "rows" }, newest.memories.map((memory) => el("li", {}, linked(memory), provenance(memory, "you")))))));
}

const milliseconds = (value) => `${number(Math.round(value))} ms`;

function sum(rows, name) {
  return rows.reduce((total, row) => total + (row[name] ?? 0), 0);
}

function tile(name, value, note) {
  return el("div", { class: "tile" }, el("span", { class: "tile-name" }, name), el("span", { class: "tile-value" }, value), el("span", { class: "quiet" }, note));
}

/** Each figure says over which time it counts; that of the new memories is the chart's. */
function figures({ process }, rows, total, { days }) {
  const { hit_rate: rate, found, empty: nothing } = process.searches, { calls, input_tokens: sent, output_tokens: got } = process.models;
  const search = process.latency.find((one) => one.route === "/v1/search");
  return el("div", { class: "tiles" },
    tile("Memories held", number(total), `${number(sum(days, "written"))} new in 30 days; ${size(sum(rows, "bytes"))}`),
    tile("Model calls", number(calls), calls === 0 ? "since start: rules read everything" : `since start: ${number(sent)} tokens sent, ${number(got)} received`),
    tile("Questions with a hit", rate === null ? "–" : percent(rate), found + nothing === 0 ? "nothing asked since start" : `of ${number(found + nothing)} since start, by search or for a prompt`),
    tile("Search takes", search ? milliseconds(search.p50_ms) : "–", search ? `half of ${number(search.count)} since start are faster` : "no search since start"));
}

/** What does not work, is behind, full or slow, in sentences; said also when all is well. */
function wrong({ process, projections, waiting }, quotas, webhooks) {
  const requests = process.requests, failed = requests["5xx"] ?? 0, search = process.latency.find((one) => one.route === "/v1/search");
  const lines = [
    failed > 0 && `${number(failed)} of ${counted(sum([requests], "2xx") + (requests["4xx"] ?? 0) + failed, "request")} failed since the service started.`,
    ...Object.entries(process.degraded).filter(([, count]) => count > 0).map(([name, count]) => `Search by ${listWords(name)} failed ${counted(count, "time")}.`),
    ...Object.entries(projections).filter(([, behind]) => behind > 0).map(([name, behind]) => `The copy in ${spaced(name)} is ${counted(behind, "change")} behind.`),
    search?.count >= ENOUGH && search.p95_ms > SLOW && `Of 100 searches 5 take longer than ${number(search.p95_ms)} ms.`,
    waiting > 0 && pointing(`${counted(waiting, "memory waits", "memories wait")} for review.`, "review", "Review"),
    ...quotas.flatMap((quota) => Object.values(quota.used).filter((used) => used >= quota.soft).map((used) => pointing(`A limit of the tenant${quota.kind ? ` on ${spaced(quota.kind)} memories` : ""} is used to ${percent(used)}.`, "quotas", "See limits"))),
    ...webhooks.filter((one) => one.disabled_at || one.failures > 0).map((one) => pointing(`The webhook ${one.label || one.url} ${one.disabled_at ? "is disabled" : `failed ${counted(one.failures, "time")}`}.`, "webhooks", "See webhooks")),
  ].filter(Boolean);
  if (lines.length === 0) return el("p", { class: "well" }, "Everything works: no failed request, no degraded part, nothing behind, nothing waiting.");
  return el("ul", { class: "rows attention" }, lines.map((line) => el("li", {}, line)));
}

/** A sentence, and the button that leads to where something is done about it. */
const pointing = (words, place, act) => several(el("span", {}, words), el("a", { class: "button", href: linkTo(place), "aria-label": `${act}: ${words}` }, act));
const link = (words, place) => el("a", { href: linkTo(place) }, words);

/** What a person should look at among the newest memories; read once, as it reads them all. */
async function examine(found, signal) {
  found.replaceChildren(el("p", { class: "quiet", role: "status" }, "Examining the memories…"));
  try {
    const health = await call("GET", "/v1/doctor", { signal });
    const lines = [
      [health.contradictions, "pair contradicts each other", "pairs contradict each other"],
      [health.duplicates, "pair says the same", "pairs say the same"],
      [health.junk, "memory says nothing", "memories say nothing"],
      [health.without_vector, "memory is not found by meaning: it has no vector", "memories are not found by meaning: they have no vector"],
    ].filter(([some]) => some.length > 0).map(([some, one, many]) => el("li", {}, el("span", {}, `${counted(some.length, one, many)}.`, el("span", { class: "quiet" }, " mnemic doctor names them."))));
    const unused = health.unused.length > 0 && `; ${number(health.unused.length)} not used in 90 days`;
    found.replaceChildren(several(
      lines.length > 0 && el("ul", { class: "rows attention minor" }, lines),
      el("p", { class: "quiet" }, `${counted(health.looked_at, "memory", "memories")} in use examined`, lines.length === 0 && ": no contradiction, nothing twice, none empty", unused, ".")));
  } catch (problem) {
    if (!signal.aborted) found.replaceChildren(el("p", { class: "quiet" }, "The memories could not be examined."));
  }
}

/** What people and agents wait for, by name; anything else under its address. */
const CALLS = { "POST /v1/search": "Search", "POST /v1/context": "Memory for a prompt", "POST /v1/memories": "Remember a text", "POST /v1/capture": "Read a message", "POST /v1/remember": "Read a conversation", "POST /v1/record": "Keep messages", "POST /v1/runs": "A whole turn", "GET /v1/profile": "Profile", "GET /v1/memories": "List memories", "POST /v1/uploads": "Part of an import" };

function latencies(routes) {
  // A stream lasts as long as somebody listens: how long says nothing about the service.
  const busy = routes.filter((one) => one.route.startsWith("/v1/") && !/changes$|stream$/.test(one.route)).sort((one, other) => other.count - one.count);
  const rows = (some, name) => table("Latency by call", ["Call", "Half within", "95% within"], some.map((one) => [several(name(one), " ", el("span", { class: "quiet" }, `${number(one.count)}×`)), milliseconds(one.p50_ms), one.count < ENOUGH ? "–" : milliseconds(one.p95_ms)]), { figures: true });
  const address = (one) => `${one.method} ${one.route}`;
  const named = busy.filter((one) => CALLS[address(one)]), rest = busy.filter((one) => !CALLS[address(one)]);
  return several(
    el("p", { class: "quiet" }, `Since the service started. The second figure needs ${ENOUGH} calls.`),
    named.length > 0 ? rows(named, (one) => CALLS[address(one)]) : el("p", { class: "quiet" }, "Nobody has searched or remembered anything since the service started."),
    rest.length > 0 && el("details", {}, el("summary", {}, `${counted(rest.length, "other call")}`), rows(rest.slice(0, 30), (one) => el("code", {}, address(one)))));
}
