/** Keys that work on every page: `/` searches, Ctrl-K goes to a page, `?` tells them all. */

import { el } from "./dom.js";
import { GROUPS, linkTo, mayOpen, placeNamed } from "./page-list.js";

const KEYS = [["/", "search your memory"], ["Ctrl K", "go to a page"], ["?", "show these keys"], ["Esc", "close what is open"]];

/** Listen for the keys, for somebody who is signed in. @param {() => any} whoever */
export function listenForKeys(whoever) {
  document.addEventListener("keydown", (event) => {
    const who = whoever();
    if (who === null || document.querySelector("dialog[open]")) return;
    if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) return act(event, () => goTo(who));
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (event.key === "?") act(event, help);
    if (event.key === "/" && mayOpen(placeNamed("search"), who)) act(event, toSearch);
  });
}

function act(event, work) {
  event.preventDefault();
  work();
}

function typing(target) {
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}

function toSearch() {
  const there = document.querySelector("main input[type=search]");
  if (there instanceof HTMLElement) there.focus();
  else location.hash = linkTo("search");
}

function opened(title, ...children) {
  const dialog = el("dialog", { "aria-label": title }, el("h2", {}, title), children);
  const before = document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (before instanceof HTMLElement) before.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

function help() {
  opened("Keys", el("dl", { class: "facts" }, KEYS.map(([key, what]) => el("div", {}, el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)))));
}

function goTo(who) {
  const places = GROUPS.flatMap((group) => group.places).filter((place) => mayOpen(place, who));
  const asked = el("input", { type: "search", "aria-label": "Page, or words to search for", placeholder: "Page, or words to search for", autocomplete: "off" });
  const list = el("ul", { class: "go" });
  const dialog = opened("Go to", asked, list);
  const draw = () => {
    const words = asked.value.trim().toLowerCase();
    const fitting = places.filter((place) => place.title.toLowerCase().includes(words)).map((place) => [linkTo(place.name), place.title]);
    if (words && mayOpen(placeNamed("search"), who)) fitting.push([linkTo("search", null, { q: asked.value.trim() }), `Search for “${asked.value.trim()}”`]);
    list.replaceChildren(...fitting.map(([href, title]) => el("li", {}, el("a", { href, on: { click: () => dialog.close() } }, title))));
  };
  asked.addEventListener("input", draw);
  asked.addEventListener("keydown", (event) => {
    const first = list.querySelector("a");
    if (event.key === "Enter" && first) act(event, () => first.click());
  });
  draw();
  asked.focus();
}
