/** For an operator: what is wrong, what it costs, how it grows. For others: what is known of them. Kept up to date. */

import { call } from "../api.js";
import { activityCharts } from "../charts.js";
import { el, several } from "../dom.js";
import { onChange } from "../live.js";
import { button, empty, head, linked, panel, provenance } from "../components.js";
import { firstSteps } from "../profile.js";
import { linkTo, mayOpen, placeNamed } from "../page-list.js";
import { ago, counted, listWords, number, percent, size, spaced } from "../labels.js";

/** From how many memories on they are examined only when it is asked for: every one of them is read. */
const MANY = 5000;
/** Milliseconds for the slowest 5 of 100 calls from which an operator should look at them. */
const SLOW = 1000;
/** From how many calls on the slowest 5 of 100 are more than one call. */
const ENOUGH = 20;

/** @param {any} context */
export async function show({ who, query, signal }) {
  const body = el("div", { class: "stack" }), operator = who.roles.includes("operator");
  const found = el("div", { "aria-live": "polite" }), days = query.get("days") === "7" ? 7 : 30, period = el("div", { class: "period" });
  const draw = async () => body.replaceChildren(operator ? await installation(signal, found, days, period) : await own(who, signal));
  await draw();
  onChange(signal, () => draw().catch(() => {}), 1500);
  const span = (of) => el("a", { class: "button quiet", href: linkTo("overview", null, { days: String(of) }), "aria-current": of === days && "true" }, `${of} days`);
  if (!operator) return several(head("Overview", "What is known about you, and what is new."), body);
  period.append(el("div", {}, el("h2", {}, "Memory in use"), el("p", { class: "quiet" }, `The last ${days} days, compared with the ${days} before.`)), el("div", { class: "either", role: "group", "aria-label": "Period" }, span(7), span(30)));
  return several(head("Overview", who.tenant === "default" ? "What is wrong, what memory does, and how fast it answers." : `All of ${who.tenant}.`), body);
}

async function installation(signal, found, span, period) {
  const [state, days, { quotas }, { webhooks }] = await Promise.all([
    call("GET", "/v1/overview", { signal }),
    call("GET", "/v1/overview/days", { query: { days: span }, signal }),
    call("GET", "/v1/tenant/quotas", { signal }),
    call("GET", "/v1/webhooks", { signal }),
  ]);
  const total = sum(Object.values(state.held), "rows");
  if (found.childElementCount === 0) {
    if (total > MANY) found.append(button("Examine the memories", () => examine(found, signal, null)));
    else examine(found, signal, { total, waiting: state.waiting });
  }
  return several(
    panel("What needs attention", wrong(state, quotas, webhooks), found),
    period,
    figures(state, total, days),
    activityCharts(days),
    panel("Calls", answered(state.process)));
}

async function own(who, signal) {
  const may = (name) => mayOpen(placeNamed(name), who);
  const [known, queue, newest] = await Promise.all([
    may("search") && call("GET", "/v1/profile", { query: { max_tokens: 300 }, signal }),
    may("review") && call("GET", "/v1/reviews", { query: { limit: 1 }, signal }),
    may("search") && call("GET", "/v1/memories", { query: { limit: 5, kinds: "long_term" }, signal }),
  ]);
  const lines = known ? known.known_lines : [], shown = new Set(lines.map(({ memory }) => memory.memory_id));
  const fresh = newest ? newest.memories.filter((memory) => !shown.has(memory.memory_id)) : [];
  return several(
    queue && queue.waiting > 0 && el("p", { class: "note" }, link(`${counted(queue.waiting, "memory waits", "memories wait")} for a decision.`, "review")),
    newest && newest.memories.length === 0 && lines.length === 0 && panel(null, empty("Nothing remembered yet", "What you tell an agent, and what your chats say, appears here.", firstSteps(who))),
    el("div", { class: "halves" },
      lines.length > 0 && panel("What holds now", el("ul", { class: "rows" }, lines.map(({ text, memory }) => el("li", {}, linked(memory, text[0].toUpperCase() + text.slice(1))))), may("mine") && el("p", {}, link("All of it, with its proof", "mine"))),
      fresh.length > 0 && panel("Also new", el("ul", { class: "rows" }, fresh.map((memory) => el("li", {}, linked(memory), provenance(memory, "you")))))));
}

const milliseconds = (value) => (value < 1000 ? `${number(Math.round(value))} ms` : `${(value / 1000).toFixed(1)} s`);

function sum(rows, name) {
  return rows.reduce((total, row) => total + (row[name] ?? 0), 0);
}

function tile(name, value, ...notes) {
  return el("div", { class: "tile" }, el("span", { class: "tile-name" }, name), el("span", { class: "tile-value" }, value), notes.filter(Boolean).map((note) => el("span", { class: "quiet" }, note)));
}

/** How a figure moved from one period to the next; null where there is nothing to compare with. `better`: 1 where more is, -1 where less is, 0 where neither. */
function change(now, before, better = 0, words = number) {
  if (!before || now === null || before === null) return null;
  const share = (now - before) / before, up = share > 0, told = Math.round(100 * Math.abs(share));
  const judged = better === 0 || told < 5 ? "" : up === better > 0 ? " is-better" : " is-worse";
  return el("span", { class: `change${judged}` }, told === 0 ? "as before" : several(el("span", { "aria-hidden": "true" }, up ? "↑" : "↓"), el("span", { class: "unseen" }, up ? "up" : "down"), ` ${told}%${words ? ` from ${words(before)}` : ""}`));
}

/** All of the same period, each beside the one before. */
function figures({ held, waiting }, total, { days, period: now, period_before: before }) {
  const each = (one) => (one?.used ? Math.round(one.tokens / one.used) : null), some = now.used > 0;
  return el("div", { class: "tiles" },
    tile("Memories held", number(total), `${number(now.written)} new${before ? ` (${number(before.written)} before)` : ""}`, waiting > 0 ? `${number(waiting)} wait for review` : size(sum(Object.values(held), "bytes"))),
    tile("Prompts with memory", number(now.used), change(now.used, before?.used), some ? `${number(Math.round(now.used / days.length))} a day` : "none yet"),
    tile("Tokens per prompt", some ? number(each(now)) : "–", change(each(now), each(before), -1), some && `${number(now.tokens)} in all`),
    tile("Time per prompt", some ? milliseconds(now.typical_ms) : "–", some && change(now.typical_ms, before?.typical_ms, -1, milliseconds), now.used >= ENOUGH && `slowest 5%: ${milliseconds(now.slow_ms)}`));
}

/** What does not work, is behind, full or slow, in sentences; said also when all is well. */
function wrong({ process, projections, waiting }, quotas, webhooks) {
  const requests = process.requests, failed = requests["5xx"] ?? 0, calls = judged(process.latency), searches = process.searches.found + process.searches.empty;
  const others = failed - sum(calls.filter((one) => one.named), "failed");
  const lines = [
    ...calls.filter((one) => one.named && (one.failed > 0 || one.slow)).map(trouble),
    others > 0 && bad(`${number(others)} of ${counted(sum([requests], "2xx") + (requests["4xx"] ?? 0) + failed, "request")} failed since the service started.`),
    ...Object.entries(process.degraded).filter(([, count]) => count > 0).map(([name, count]) => several(el("span", {}, el("strong", {}, `Search by ${listWords(name)} failed`), ` in ${number(count)}${searches >= count ? ` of all ${counted(searches, "search", "searches")}` : ""}; the other ways answered alone.`), below("See searches", ".aside"))),
    ...Object.entries(projections).filter(([, behind]) => behind > 0).map(([name, behind]) => `The copy in ${spaced(name)} is ${counted(behind, "change")} behind.`),
    waiting > 0 && pointing(`${counted(waiting, "memory waits", "memories wait")} for review.`, "review", `Review ${number(waiting)}`),
    ...quotas.flatMap((quota) => Object.values(quota.used).filter((used) => used >= quota.soft).map((used) => pointing(`A limit of the tenant${quota.kind ? ` on ${spaced(quota.kind)} memories` : ""} is used to ${percent(used)}.`, "quotas", "Quotas"))),
    ...webhooks.filter((one) => one.disabled_at || one.failures > 0).map((one) => pointing(`The webhook ${one.label || one.url} ${one.disabled_at ? "is disabled" : `failed ${counted(one.failures, "time")}`}.`, "webhooks", "Webhooks")),
  ].filter(Boolean);
  if (lines.length === 0) return el("p", { class: "well" }, "Everything works: no failed request, no degraded part, nothing behind, nothing waiting.");
  return several(el("p", { class: "sums" }, `Calls since the service started ${ago(process.since)}; the rest as it is now.`), el("ul", { class: "rows attention" }, lines.map((line) => el("li", {}, line))));
}

/** All that is wrong with one sort of call, in one sentence. */
function trouble(one) {
  const late = one.slow && `1 in 20 takes over ${milliseconds(one.p95_ms)} (limit ${SLOW / 1000} s)`;
  if (one.failed === 0) return several(el("span", {}, el("strong", {}, `${one.name} is slow`), `: ${late}.`), below("See slow calls"));
  return bad([el("strong", {}, `${one.name}: ${number(one.failed)} of ${number(one.count)} failed`), ` (${(100 * one.failed / one.count).toFixed(1)}%)${late ? `, and ${late}` : ""}.`]);
}

/** Something that failed, worse than something that waits. */
const bad = (words) => several(el("span", { class: "failing" }, words), below("See failures"));
const below = (words, part = ".calls") => button(words, () => document.querySelector(part)?.closest(".panel")?.scrollIntoView());

/** A sentence, and the button that leads to where something is done about it. */
const pointing = (words, place, act) => several(el("span", {}, words), el("a", { class: "button", href: linkTo(place), "aria-label": `${act}: ${words}` }, act));
const link = (words, place) => el("a", { href: linkTo(place) }, words);

/** What a person should look at among the newest memories; read once, as it reads them all. `held`: how many there are of every status, where all of them are read. */
async function examine(found, signal, held) {
  found.replaceChildren(el("p", { class: "quiet", role: "status" }, "Examining the memories…"));
  try {
    const health = await call("GET", "/v1/doctor", { signal });
    const lines = [
      [health.contradictions, "pair contradicts each other", "pairs contradict each other"],
      [health.duplicates, "pair says the same", "pairs say the same"],
      [health.junk, "memory says nothing", "memories say nothing"],
      [health.without_vector, "memory is not found by meaning: it has no vector", "memories are not found by meaning: they have no vector"],
    ].filter(([some]) => some.length > 0).map(([some, one, many]) => el("li", {}, el("span", {}, `${counted(some.length, one, many)}.`, el("span", { class: "quiet" }, " mnemic doctor names them."))));
    const past = held ? held.total - held.waiting - health.looked_at : 0;
    const unused = health.unused.length > 0 && `; ${number(health.unused.length)} not used in 90 days`;
    found.replaceChildren(several(
      lines.length > 0 && el("ul", { class: "rows attention minor" }, lines),
      el("p", { class: "examined" }, el("span", { class: lines.length === 0 && "yes" }, `${number(health.looked_at)} in use examined`), lines.length === 0 && ": no contradiction, nothing twice, none empty", unused, ".",
        held && ` ${counted(held.total, "memory", "memories")} held${[held.waiting > 0 && `${number(held.waiting)} waiting`, past > 0 && `${number(past)} replaced or closed`].filter(Boolean).map((some) => `, ${some}`).join("")}.`)));
  } catch (problem) {
    if (!signal.aborted) found.replaceChildren(el("p", { class: "quiet" }, "The memories could not be examined."));
  }
}

/** What people and agents wait for, by name; anything else under its address. */
const CALLS = { "POST /v1/search": "Searching", "POST /v1/context": "Memory for a prompt", "POST /v1/memories": "Remembering a text", "POST /v1/capture": "Reading a message", "POST /v1/remember": "Reading a conversation", "POST /v1/record": "Keeping messages", "POST /v1/runs": "A whole turn", "GET /v1/profile": "Reading a profile", "GET /v1/memories": "Listing memories", "POST /v1/uploads": "Part of an import" };

const address = (one) => `${one.method} ${one.route}`;

/** The calls, most frequent first, with whether they are slow. A stream lasts as long as somebody listens: how long says nothing. */
function judged(routes) {
  return routes.filter((one) => one.route.startsWith("/v1/") && !/changes$|stream$/.test(one.route)).sort((one, other) => other.count - one.count)
    .map((one) => ({ ...one, named: address(one) in CALLS, name: CALLS[address(one)] ?? address(one), slow: one.count >= ENOUGH && one.p95_ms > SLOW }));
}

/** What was called since the service started, how long it took, what failed, and what the language model cost. */
function answered({ latency, since, models, searches, degraded }) {
  const calls = judged(latency), often = calls.filter((one) => one.count >= ENOUGH && (one.named || one.slow || one.failed > 0)), rest = calls.filter((one) => !often.includes(one));
  const { calls: asked, input_tokens: sent, output_tokens: got } = models, questions = searches.found + searches.empty;
  const partly = Object.entries(degraded).filter(([, count]) => count > 0).map(([name, count]) => `${number(count)} without search by ${listWords(name)}`);
  return several(
    el("p", { class: "sums" }, `Since the service started ${ago(since)}. A prompt counts also where there was no memory to add.`),
    el("div", { class: "calls-sides" },
      el("div", {}, often.length > 0 ? listed(often) : el("p", { class: "quiet" }, "Too few calls yet to say how fast it answers."),
        rest.length > 0 && el("details", {}, el("summary", {}, counted(rest.length, "other kind of call", "other kinds of call")), listed(rest.slice(0, 30)))),
      (asked > 0 || questions >= ENOUGH) && el("dl", { class: "aside" },
        questions >= ENOUGH && el("div", {}, el("dt", {}, "Searches, those for prompts included"), el("dd", {}, el("strong", {}, number(questions)), [`${percent(searches.hit_rate)} found something`, ...partly].map((line) => el("span", { class: "quiet" }, line)))),
        asked > 0 && el("div", {}, el("dt", {}, "Calls of the language model"), el("dd", {}, el("strong", {}, number(asked)), el("span", { class: "quiet" }, `${number(sent)} tokens sent, ${number(got)} received`))))));
}

const listed = (calls) => several(
  el("p", { class: "call-head", "aria-hidden": "true" }, ["", "Calls", "Failed", "Typical", "Slowest 5%"].map((name) => el("span", {}, name))),
  el("ul", { class: "rows calls" }, calls.map(timed)));

/** A call in a line: how often, how long, and what is wrong with it. */
function timed(one) {
  return el("li", {},
    el("span", { class: "call" }, one.named ? one.name : el("code", {}, one.name)),
    el("span", {}, number(one.count), el("span", { class: "of" }, one.count === 1 ? " call" : " calls")),
    el("span", { class: one.failed > 0 ? "failing" : "of" }, number(one.failed), el("span", { class: "of" }, " failed")),
    el("span", {}, el("span", { class: "of" }, "typical "), milliseconds(one.p50_ms)),
    el("span", { class: one.slow ? "is-worse" : null }, one.count >= ENOUGH && [el("span", { class: "of" }, "slowest 5% "), milliseconds(one.p95_ms)]));
}
