/** What can be done with a memory wherever it is shown: say whether it helped, correct it in place, forget it. */

import { call } from "./api.js";
import { attempt, button, sureToForget } from "./components.js";
import { el, svg } from "./dom.js";
import { rating } from "./rating.js";

/** Whether somebody may change a memory. */
export function mayChange(memory, who) {
  return memory.status === "active" && (who.roles.includes("writer") || who.roles.includes("subject"));
}

/**
 * The buttons. `node`: what shows the memory, which becomes a field while it is corrected; `done` is called when something
 * has changed. @param {any} memory @param {any} node @param {() => any} done
 */
export function changes(memory, node, done, text = memory.content) {
  const path = `/v1/memories/${encodeURIComponent(memory.memory_id)}`;
  const gone = async () => (await sureToForget(memory)) && (await attempt(() => call("DELETE", path), "Forgotten.")) && done();
  return [
    button("Edit", () => correct(node, path, memory, done), { kind: "quiet", "aria-label": `Edit: ${text}` }),
    button("Forget", gone, { kind: "quiet danger-text", "aria-label": `Forget: ${text}` })];
}

const DOTS = "M5 12h.01M12 12h.01M19 12h.01", CROSS = "M7 7l10 10M17 7 7 17";

/** The button that opens what can be done with what `node` shows. @param {any} node @param {string} text */
export function opener(node, text) {
  const mark = svg("path", { d: DOTS });
  const turn = () => {
    const open = node.classList.toggle("unfolded");
    more.setAttribute("aria-expanded", String(open));
    mark.setAttribute("d", open ? CROSS : DOTS);
  };
  const more = button(svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, mark), turn, { kind: "quiet more", "aria-expanded": "false", "aria-label": `Actions: ${text}` });
  return more;
}

/** All that can be done with a memory that was found or used, behind one button; its sentence leads to its page. `rated`: what was said of it before. */
export function acts(memory, node, rated, done, may = true) {
  return [opener(node, memory.content), el("div", { class: "acts" }, rating(memory, rated), may && changes(memory, node, done))];
}

/** The words become a field where they stand; Escape leaves them as they were. */
function correct(node, path, memory, done) {
  const kept = [...node.childNodes];
  const text = el("textarea", { name: "content", rows: "2", required: true, maxlength: "8192", "aria-label": "What it should say" }, memory.content);
  const close = () => (node.classList.remove("open"), node.replaceChildren(...kept), node.querySelector("button[aria-label^=Edit]").focus());
  const back = async () => (await attempt(() => call("POST", `${path}/rollback`, { body: { version: memory.version } }), "It says again what it said.")) && done();
  const save = async (event) => {
    event.preventDefault();
    if (await attempt(() => call("PATCH", path, { body: { content: text.value }, ifMatch: memory.version }), "Corrected.", back)) await done();
  };
  node.classList.add("open");
  node.replaceChildren(el("form", { class: "inplace", on: { submit: save, keydown: (event) => event.key === "Escape" && close() } }, text,
    el("div", { class: "actions" }, el("button", { type: "submit", class: "button primary" }, "Save"), button("Cancel", close), el("span", { class: "quiet" }, "The current text is kept as an earlier version."))));
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
}
