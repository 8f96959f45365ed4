/**
 * The review desk: what waits for a person, each beside what it stands against. Everything can be done from the
 * keyboard: j and k move, a approves, r turns down, e edits first, m joins, x selects for deciding together.
 */

import { call } from "../api.js";
import { sides } from "../diff.js";
import { el, several } from "../dom.js";
import { onChange } from "../live.js";
import { ask, attempt, button, empty, failure, field, head, provenance } from "../components.js";
import { counted, day, inWords, kindWords, lasting, number, originWords, percent, topic } from "../labels.js";

/** From where on what an agent inferred is likely enough to suggest that it be approved. */
const SURE = 0.7;

/** @param {any} context */
export async function show({ signal }) {
  const desk = new Desk(await call("GET", "/v1/reviews", { query: { limit: 100 }, signal }), signal);
  return several(
    head("Review desk", "Guesses of agents. None is used until you decide."),
    desk.node,
  );
}

class Desk {
  /** @param {{reviews: any[], next: string | null}} page @param {AbortSignal} signal */
  constructor(page, signal) {
    this.waiting = page.reviews;
    this.next = page.next;
    this.at = 0;
    this.marked = new Set();
    this.decided = 0;
    this.node = el("div", { class: "desk" });
    this.acts = { j: () => this.go(1), k: () => this.go(-1), a: () => this.approve(), r: () => this.reject(), e: () => this.edit(), m: () => this.merge(), x: () => this.mark() };
    document.addEventListener("keydown", (event) => this.press(event), { signal });
    onChange(signal, () => this.refresh().catch(() => {}));
    this.draw();
  }

  /** Take in what has come since and what others have decided; what is looked at stays where it is. */
  async refresh() {
    const decided = this.decided;
    const page = await call("GET", "/v1/reviews", { query: { limit: 100 } });
    if (decided !== this.decided) return;
    const names = new Set(page.reviews.map((one) => one.memory.memory_id));
    const looking = this.current?.memory.memory_id;
    if (document.querySelector("dialog") || (names.size === this.waiting.length && this.waiting.every((one) => names.has(one.memory.memory_id)))) return;
    const focus = this.node.contains(document.activeElement);
    [this.waiting, this.next] = [page.reviews, page.next];
    this.marked = new Set([...this.marked].filter((name) => names.has(name)));
    this.at = Math.max(0, this.waiting.findIndex((one) => one.memory.memory_id === looking));
    this.draw({ focus });
  }

  get current() {
    return this.waiting[this.at];
  }

  press(event) {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, select, dialog");
    const act = this.acts[event.key];
    if (typing || !act || !this.current || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }

  draw({ focus = false } = {}) {
    if (!this.current) {
      this.node.replaceChildren(empty("Nothing waits for review", "Anything that needs a decision appears here automatically."));
      if (focus) document.querySelector("h1")?.focus();
      return;
    }
    this.node.replaceChildren(el("div", { class: "desk-sides" }, el("div", { class: "queue" }, this.bulk(), this.list()), this.detail()));
    if (focus) this.node.querySelector("[aria-current] button")?.focus();
  }

  bulk() {
    const many = this.marked.size, all = many === this.waiting.length;
    const every = el("input", { type: "checkbox", checked: all, id: "every", on: { change: () => this.markAll() } });
    return el("div", { class: "bulk" },
      el("p", { class: "check" }, every, el("label", { for: "every" }, "Select all")),
      el("p", { class: "quiet", role: "status" }, many > 0 ? `${many} of ${this.waiting.length}` : `${number(this.waiting.length)}${this.next ? " and more" : ""} waiting`),
      el("div", { class: "actions" },
        button("Approve selected", () => this.decideMarked("approval"), { disabled: many === 0 }),
        button("Reject selected", () => this.decideMarked("rejection"), { disabled: many === 0 })));
  }

  list() {
    return el("ol", { "aria-label": "Waiting" }, this.waiting.map((one, at) => {
      const name = one.memory.memory_id;
      const mark = el("input", { type: "checkbox", checked: this.marked.has(name), "aria-label": `Select: ${one.memory.content}`, on: { change: () => this.mark(at) } });
      return el("li", { "aria-current": at === this.at && "true" }, mark,
        el("button", { type: "button", on: { click: () => this.open(at) } },
          el("span", { class: "line" }, one.memory.content),
          el("span", { class: "quiet" }, el("span", { class: "short" }, shortly(one)), el("span", {}, `${percent(one.memory.confidence)} sure`))));
    }));
  }

  detail() {
    const { memory, against, proposer, age_seconds: age } = this.current, sure = memory.confidence >= SURE;
    const choice = (letter, name, act, then, kind = "plain") => el("li", {},
      button([el("kbd", { "aria-hidden": "true" }, letter), name], act, { kind, "aria-keyshortcuts": letter, "aria-describedby": `then-${letter}` }), el("p", { id: `then-${letter}`, "data-name": name }, then));
    const approve = choice("a", "Approve", () => this.approve(), replacing(memory, against), sure ? "primary" : "plain");
    const reject = choice("r", "Reject", () => this.reject(), "Nothing changes; this is not used.", sure ? "plain" : "safe");
    return el("article", { class: "panel case", "aria-label": "What waits" },
      el("div", { class: "case-head" },
        el("p", { class: "meta" }, el("span", {}, topic(memory.key ?? kindWords(memory.kind))), el("span", {}, `about ${memory.owner}`), proposer !== memory.owner && el("span", {}, `from ${proposer}`), el("span", {}, `waiting ${lasting(age)}`)),
        el("div", { class: "turn" },
          button(`${this.at + 1} of ${this.waiting.length}`, () => this.node.querySelector(".queue").scrollIntoView(), { kind: "all", title: "See all that wait" }),
          button("‹", () => this.turn(-1, "Previous"), { kind: "step", "aria-label": "Previous", title: "Previous (k)", disabled: this.at === 0 }),
          button("›", () => this.turn(1, "Next"), { kind: "step", "aria-label": "Next", title: "Next (j)", disabled: this.at === this.waiting.length - 1 }))),
      el("h2", {}, because(memory, against)),
      against.length === 0
        ? el("div", { class: "versus" }, el("div", {}, el("h3", {}, "Proposed"), el("p", {}, memory.content), provenance({ ...memory, key: null }, memory.owner)))
        : against.map((old) => versus(old, memory)),
      ground(memory),
      el("ul", { class: "decide", "aria-label": "Decide" }, sure ? [approve, reject] : [reject, approve],
        choice("e", "Edit", () => this.edit(), "Uses your own words, which you write next."),
        against.length > 0 && choice("m", "Keep both", () => this.merge(), "Joins both in one memory that you word.")));
  }

  open(at) {
    this.at = at;
    this.draw({ focus: true });
  }

  go(step) {
    this.open(Math.min(this.waiting.length - 1, Math.max(0, this.at + step)));
  }

  /** As `go`, but what is pressed stays under the finger. */
  turn(step, name) {
    this.at += step;
    this.draw();
    (this.node.querySelector(`.turn [aria-label="${name}"]:enabled`) ?? this.node.querySelector(".turn :enabled"))?.focus();
  }

  mark(at = this.at) {
    const name = this.waiting[at].memory.memory_id;
    if (!this.marked.delete(name)) this.marked.add(name);
    this.at = at;
    this.draw({ focus: true });
  }

  markAll() {
    const names = this.waiting.map((one) => one.memory.memory_id);
    this.marked = new Set(this.marked.size === names.length ? [] : names);
    this.draw();
  }

  approve() {
    return this.decide("approval", {}, "Approved.");
  }

  reject() {
    return this.decide("rejection", undefined, "Rejected.");
  }

  async edit() {
    const text = el("textarea", { name: "content", rows: "4", required: true, maxlength: "8192" }, this.current.memory.content);
    const given = await ask("Edit and approve", field("What it should say", text), { act: "Approve" });
    if (given) await this.decide("approval", { content: given.content }, "Approved with your words.");
  }

  async merge() {
    const { memory, against } = this.current;
    if (against.length === 0) return;
    const text = el("textarea", { name: "content", rows: "4", required: true, maxlength: "8192" }, `${against.map((old) => old.content).join(" ")} ${memory.content}`);
    const given = await ask("Merge into one", field("What the one memory should say", text, `It takes the place of ${counted(against.length, "memory", "memories")} and of what waits.`), { act: "Merge" });
    if (given) await this.decide("approval", { content: given.content, merge_with: against.map((old) => old.memory_id) }, "Merged.");
  }

  async decide(verdict, body, words) {
    const { memory } = this.current;
    if (await attempt(() => decided(memory.memory_id, verdict, body), words)) this.gone([memory.memory_id]);
    else this.draw({ focus: true });
  }

  async decideMarked(verdict) {
    const chosen = this.waiting.filter((one) => this.marked.has(one.memory.memory_id)).map((one) => one.memory.memory_id);
    const act = verdict === "approval" ? "Approve" : "Reject";
    const sure = await ask(`${act} ${counted(chosen.length, "memory", "memories")}?`, el("p", {}, "Each decision gets its own line in the audit."), { act, kind: verdict === "approval" ? "primary" : "danger" });
    if (!sure) return;
    const done = [];
    const refused = new Set();
    for (const name of chosen) {
      await decided(name, verdict, verdict === "approval" ? {} : undefined).then(() => done.push(name), (problem) => refused.add(problem.reason));
    }
    await attempt(async () => done.length, `${counted(done.length, "memory", "memories")} decided.`);
    this.gone(done);
    if (refused.size > 0) this.node.prepend(el("div", { class: "failure", role: "alert" }, `${counted(chosen.length - done.length, "memory", "memories")} could not be decided: `, [...refused].map(inWords).join("; ")));
  }

  gone(names) {
    this.decided += names.length;
    this.waiting = this.waiting.filter((one) => !names.includes(one.memory.memory_id));
    for (const name of names) this.marked.delete(name);
    this.at = Math.min(this.at, Math.max(0, this.waiting.length - 1));
    if (this.waiting.length > 0 || this.next === null) return this.draw({ focus: true });
    return this.more();
  }

  async more() {
    try {
      const page = await call("GET", "/v1/reviews", { query: { limit: 100 } });
      [this.waiting, this.next, this.at] = [page.reviews, page.next, 0];
      this.draw({ focus: true });
    } catch (problem) {
      this.node.replaceChildren(failure(problem, () => this.more()));
    }
  }
}

function decided(memoryId, verdict, body) {
  return call("POST", `/v1/reviews/${encodeURIComponent(memoryId)}/${verdict}`, { body });
}

/** Why it waits. */
function because(memory, against) {
  if (against.length === 0) return "Contradicts nothing that is known.";
  if (against.length > 1) return `Contradicts ${counted(against.length, "memory", "memories")} in use.`;
  const said = originWords(against[0].source, memory.owner, memory.owner);
  return `Contradicts ${/^said by /.test(said) ? `what ${said.replace("said by ", "")} said` : `what is known (${said})`}.`;
}

const quoted = (parts) => `“${parts.join("”, “")}”`;

/** What approving does. */
function replacing(memory, against) {
  if (against.length === 0) return "This is used from now on.";
  const { dropped, close } = sides(against[0].content, memory.content), lost = against.length === 1 && close && dropped.length > 0;
  return several(lost && [el("strong", {}, `Loses ${quoted(dropped)}`), "; "], lost ? "replaces what is known." : "Replaces what is known.");
}

/** What a decision changes, in a few words. */
function shortly({ memory, against }) {
  if (against.length === 0) return `new: ${topic(memory.key ?? kindWords(memory.kind)).toLowerCase()}`;
  const { close, pairs, dropped, added } = sides(against[0].content, memory.content);
  if (!close) return `replaces ${quoted([against[0].content])}`;
  if (pairs.length > 0) return `replaces ${quoted(pairs.map(([old]) => old))}`;
  return added.length > 0 ? `adds ${quoted(added)}` : dropped.length > 0 ? `drops ${quoted(dropped)}` : "the same in other words";
}

/** What it was read from, and how far it is believed where that is little. */
function ground({ confidence, source: { quote, speaker }, created_at: created }) {
  if (!quote && confidence >= SURE) return null;
  return el("figure", { class: confidence < SURE ? "ground doubt" : "ground" },
    el("figcaption", {}, confidence < SURE && el("strong", {}, `Only ${percent(confidence)} sure`), quote && `${confidence < SURE ? ", read" : "Read"} on ${day(created)}${speaker ? ` from ${speaker}` : ""}:`),
    quote && el("blockquote", {}, `“${quote}”`));
}

function versus(old, fresh) {
  const { before, after } = sides(old.content, fresh.content);
  return el("div", { class: "versus" },
    el("div", {}, el("h3", {}, "Known now"), before, provenance({ ...old, key: null }, old.owner)),
    el("div", {}, el("h3", {}, "Proposed"), after, provenance({ ...fresh, key: null, ...(fresh.confidence < SURE && { trust: "high" }) }, fresh.owner)));
}
