/** Pieces that several pages are made of. Each takes data and returns an element; none calls the service. */

import { Problem } from "./api.js";
import { el, several } from "./dom.js";
import { ago, dateTime, day, inWords, kindWords, originWords, percent, sentence, spaced, statusWords, topic } from "./labels.js";
import { linkTo } from "./page-list.js";

/** The head of a page: its title, which takes the focus when the page opens, and a line below it. */
export function head(title, about, ...actions) {
  return el(
    "header",
    { class: "head" },
    el("div", {}, el("h1", { tabindex: "-1" }, title), about && el("p", { class: "about" }, about)),
    actions.length > 0 && el("div", { class: "actions" }, actions),
  );
}

/** A panel with a heading. @param {string | null} title @param {...any} children */
export function panel(title, ...children) {
  return el("section", { class: "panel" }, title && el("h2", {}, title), children);
}

/** Whether the window is a phone's. */
export const narrow = () => innerWidth < 560;

/** A part that most people do not need at once: its heading opens it. `hint` says what is in it; `opened` is called when it is opened. */
export function fold(title, hint, content, opened = () => {}) {
  const part = el("details", { class: "fold", on: { toggle: () => part.open && opened() } }, el("summary", {}, el("h2", {}, title), hint && el("span", { class: "quiet" }, hint)), el("div", { class: "stack" }, content));
  return part;
}

/** Nothing is there, and what would make something be there. */
export function empty(title, about, action = null) {
  return el("div", { class: "empty" }, el("p", { class: "empty-title" }, title), el("p", {}, about), action);
}

/** What went wrong, in words, with a way to try again. @param {unknown} problem @param {() => void} [retry] */
export function failure(problem, retry) {
  const known = problem instanceof Problem;
  const reason = known ? problem.reason : "internal_error";
  return el(
    "div",
    { class: "failure", role: "alert" },
    el("p", {}, known ? inWords(reason) : "The page could not be shown."),
    known && problem.detail && el("p", { class: "quiet" }, problem.detail),
    el("p", { class: "quiet" }, "Reason: ", el("code", {}, reason)),
    retry && button("Try again", retry),
  );
}

/** A button. @param {any} words @param {(event: Event) => any} act @param {Record<string, any>} [attributes] */
export function button(words, act, { kind = "plain", ...attributes } = {}) {
  return el("button", { type: "button", class: `button ${kind}`, on: { click: act }, ...attributes }, words);
}

/** A status or outcome, told by colour and by word. @param {string} status */
export function badge(status) {
  return el("span", { class: `badge is-${status}` }, statusWords(status));
}

/** A moment as how long ago it was; in full for who points at it. @param {string | null} moment */
export function when(moment) {
  return moment ? el("time", { datetime: moment, title: dateTime(moment) }, ago(moment)) : null;
}

/** A kind, key or category as a small label. @param {string | null} text */
export function tag(text) {
  return text ? el("span", { class: "tag" }, spaced(text)) : null;
}

/** What stands for a value that is not kept, such as `[CARD#4ef8]`. */
export const MARKER = /(\[[A-Z][A-Z_]+#\w+\])/;

/** A text with its markers as labels. @param {string} text */
export function masked(text) {
  return several(text.split(MARKER).map((part) => (MARKER.test(part) ? el("span", { class: "tag" }, `${markerWords(part)} hidden`) : part)));
}

const MASKED = { card: "card number", email: "mail address", phone: "phone number", secret: "password or key", iban: "bank account" };

/** What a marker stands for: "card number". @param {string} marker */
export function markerWords(marker) {
  const word = marker.slice(1).split("#")[0].toLowerCase();
  return MASKED[word] ?? spaced(word);
}

/** A memory in words that lead to its page. */
export function linked(memory, text = sentence(memory)) {
  return el("a", { class: "content", href: linkTo("memory", memory.memory_id) }, masked(text));
}

/** Where a memory came from and, where it is not beyond doubt, how far it is believed; keys that the engine made itself are left out. `user`: what the person is called; what `you` said yourself is not said again. `first` stands before it. */
export function provenance(memory, user = "the user", ...first) {
  const origin = originWords(memory.source, user, memory.owner);
  const happened = memory.occurred_at && el("time", { datetime: memory.occurred_at, title: dateTime(memory.occurred_at) }, day(memory.occurred_at));
  return el(
    "p",
    { class: "meta" },
    first,
    origin !== "said by you" && el("span", {}, origin),
    happened || when(memory.updated_at),
    memory.trust !== "high" && el("span", {}, `${percent(memory.confidence)} sure`),
    memory.kind !== "long_term" && el("span", {}, topic(memory.category === "message" ? "message" : kindWords(memory.kind))),
    memory.key && !memory.key.includes(":") && el("span", {}, topic(memory.key)),
  );
}

/** Named values. @param {any[][]} pairs those without a value are left out */
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  return shown.length > 0 && el("dl", { class: "facts" }, shown.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

/** A table. On a phone, a row of more than three cells becomes a list of them with their names. @param {string} caption @param {string[]} names @param {any[][]} rows @param {{figures?: boolean}} [how] `figures`: every column but the first is of numbers */
export function table(caption, names, rows, { figures = false } = {}) {
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el(
      "table",
      names.length > 3 ? { class: "stacks" } : figures ? { class: "figures" } : {},
      el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col" }, name)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, row.map((cell, place) => el("td", { "data-name": names[place] }, cell))))),
    ),
  );
}

let fields = 0;

/** A labelled field. @param {string} label @param {any} input @param {any} [hint] */
export function field(label, input, hint) {
  input.id ||= `field-${(fields += 1)}`;
  if (hint) input.setAttribute("aria-describedby", `${input.id}-hint`);
  return el(
    "div",
    { class: "field" },
    el("label", { for: input.id }, label),
    input,
    hint && el("p", { class: "hint", id: `${input.id}-hint` }, hint),
  );
}

/** A choice from a list. @param {string[][]} options value and words */
export function choice(options, attributes = {}) {
  const { value: chosen, ...rest } = attributes;
  return el("select", rest, options.map(([value, words]) => el("option", { value, selected: value === chosen }, words)));
}

/**
 * A question in a dialog of its own: resolves to the form's values, or null where it was dismissed. The focus returns
 * to where it was.
 * @param {string} title @param {any} body @param {{act: string, kind?: string}} how
 * @returns {Promise<Record<string, string> | null>}
 */
export function ask(title, body, { act, kind = "primary" }) {
  return new Promise((resolve) => {
    const form = el(
      "form",
      { method: "dialog" },
      el("h2", { id: "ask-title" }, title),
      body,
      el(
        "div",
        { class: "actions" },
        el("button", { type: "button", class: "button plain", on: { click: () => dialog.close() } }, "Cancel"),
        el("button", { type: "submit", class: `button ${kind}`, value: "yes" }, act),
      ),
    );
    const dialog = el("dialog", { "aria-labelledby": "ask-title" }, form);
    const before = document.activeElement;
    dialog.addEventListener("close", () => {
      const given = dialog.returnValue === "yes" ? Object.fromEntries(new FormData(form)) : null;
      dialog.remove();
      if (before instanceof HTMLElement) before.focus();
      resolve(/** @type {any} */ (given));
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Confirmation of a permanent deletion. */
export async function sureToForget(memory) {
  const body = several(el("blockquote", {}, masked(memory.content)), el("p", {}, "It is deleted with all its versions. This cannot be undone."));
  return (await ask("Forget this memory?", body, { act: "Forget it", kind: "danger" })) !== null;
}

const toasts = el("div", { class: "toasts", role: "status", "aria-live": "polite" });

/** Where short messages appear; put into the page once. */
export function toastArea() {
  return toasts;
}

/**
 * Say shortly what has happened, with a button that takes it back where `undo` does. @param {string} words
 * @param {"good" | "bad"} [tone] @param {(() => any) | null} [undo]
 */
export function say(words, tone = "good", undo = null) {
  const back = undo && button("Undo", () => (toast.remove(), undo()), { kind: "quiet" });
  const toast = el("div", { class: `toast ${tone}` }, words, back);
  toasts.append(toast);
  setTimeout(() => toast.remove(), undo ? 15000 : tone === "bad" ? 9000 : 5000);
}

/**
 * Do something and say what came of it; a refusal is said, not thrown. `undo` takes it back. Resolves to whether it went
 * well.
 */
export async function attempt(work, done, undo = null) {
  try {
    const result = await work();
    const words = typeof done === "function" ? done(result) : done;
    if (words) say(words, "good", undo && (() => undo(result)));
    return true;
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    say(inWords(problem.reason), "bad");
    return false;
  }
}

/** Pages of a list, one after the other: `more` appears while there is another. */
export function paged(load, render, nothing) {
  const list = el("div", { class: "list" });
  const foot = el("div", { class: "foot" });
  async function next(cursor) {
    foot.replaceChildren(el("p", { class: "quiet", role: "status" }, "Loading…"));
    try {
      const page = await load(cursor);
      list.append(several(page.items.map(render)));
      const more = page.next !== null && button("Show more", () => next(page.next));
      foot.replaceChildren(list.childElementCount === 0 ? nothing : several(more));
    } catch (problem) {
      foot.replaceChildren(failure(problem, () => next(cursor)));
    }
  }
  next(null);
  return several(list, foot);
}
