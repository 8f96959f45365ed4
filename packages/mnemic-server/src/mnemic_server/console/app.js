/** The frame around the pages: who is signed in, where one can go, and what is shown now. */

import { session, signOut, whenSignedOut } from "./api.js";
import { el, svg } from "./dom.js";
import { follow, liveSign, unfollow } from "./live.js";
import { button, failure, toastArea } from "./components.js";
import { GROUPS, mayOpen, pageAt } from "./page-list.js";
import { themeSwitch } from "./theme-button.js";
import { listenForKeys } from "./shortcuts.js";

const main = el("main", { id: "main", tabindex: "-1" });
let who = null;
let leaving = new AbortController();

whenSignedOut(() => start());
window.addEventListener("hashchange", () => open());
listenForKeys(() => who);

async function start() {
  who = await session().catch((problem) => {
    document.body.replaceChildren(el("main", { class: "alone" }, failure(problem, start)));
    throw problem;
  });
  unfollow();
  if (who === null) return welcome();
  follow(who);
  document.body.replaceChildren(skip(), el("div", { class: "frame" }, sidebar(), main), toastArea());
  await open();
}

async function welcome() {
  leaving.abort();
  document.title = "Sign in · mnemic";
  const { show } = await import("./pages/sign-in.js");
  document.body.replaceChildren(el("main", { class: "alone" }, show(start)), toastArea());
  document.querySelector("input")?.focus();
}

/** Show the page that the address names. The focus goes to its title, where a reader's voice begins. */
async function open() {
  if (who === null) return;
  // A question belongs to the page that asked it.
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  const { place, argument, query } = pageAt(location.hash, who);
  markCurrent(place.name);
  document.title = `${place.title} · mnemic`;
  main.setAttribute("aria-busy", "true");
  const waiting = setTimeout(() => main.replaceChildren(el("p", { class: "quiet", role: "status" }, "Loading…")), 150);
  // A module cannot be called back: a page left while it loads must not say "Loading…" over the one that is shown.
  signal.addEventListener("abort", () => clearTimeout(waiting));
  let shown;
  try {
    const page = await import(`./pages/${place.name}.js`);
    shown = await page.show({ who, argument, query, signal });
  } catch (problem) {
    if (signal.aborted) return;
    shown = el("div", {}, el("h1", { tabindex: "-1" }, place.title), failure(problem, open));
  } finally {
    clearTimeout(waiting);
  }
  if (signal.aborted) return;
  main.replaceChildren(shown);
  main.removeAttribute("aria-busy");
  scrollTo(0, 0);
  (main.querySelector("[autofocus]") ?? main.querySelector("h1") ?? main).focus({ preventScroll: true });
}

function skip() {
  return el("a", { class: "skip", href: "#main", on: { click: (event) => (event.preventDefault(), main.focus()) } }, "Skip to the page");
}

function sidebar() {
  const groups = GROUPS.map(({ title, places }) => ({ title, places: places.filter((place) => mayOpen(place, who)) })).filter(({ places }) => places.length > 0);
  const side = el("div", { class: "side" });
  const fold = el("button", { type: "button", class: "button plain fold", "aria-expanded": "false", "aria-controls": "pages", on: { click: () => folded(!side.classList.contains("unfolded")) } }, "Menu");
  const folded = (shown) => {
    side.classList.toggle("unfolded", shown);
    fold.setAttribute("aria-expanded", String(shown));
  };
  side.addEventListener("click", (event) => event.target.closest("nav a") && folded(false));
  side.append(
    el("div", { class: "top" }, el("a", { class: "brand", href: "#/overview" }, el("span", { class: "mark", "aria-hidden": "true" }), "mnemic"), fold),
    el("nav", { id: "pages", "aria-label": "Pages" }, groups.map(({ title, places }) => el(title === "More" ? "details" : "div", {},
      el(title === "More" ? "summary" : "h2", {}, title),
      el("ul", {}, places.map((place) => el("li", {}, el("a", { href: `#/${place.name}`, "data-place": place.name }, svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: place.icon })), place.title)))),
    ))),
    el(
      "div",
      { class: "whoami" },
      el("p", {}, el("strong", {}, who.user ?? "An application"), who.tenant !== "default" && el("span", { class: "quiet" }, who.tenant)),
      liveSign(),
      el("div", { class: "actions" }, themeSwitch(), who.signed_in && button("Sign out", leave, { kind: "quiet" })),
    ),
  );
  return side;
}

async function leave() {
  const there = await signOut();
  if (there !== null) return location.assign(there);
  location.hash = "";
  await start();
}

function markCurrent(name) {
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("data-place") !== name) link.removeAttribute("aria-current");
    else (link.setAttribute("aria-current", "page"), link.closest("details")?.setAttribute("open", ""));
  }
}

start();
