/** Changes of memories as they happen, told to whatever page is open. One stream serves the whole window. */

import { listen } from "./api.js";
import { el } from "./dom.js";

const target = new EventTarget();
const sign = el("p", { class: "live" });
let end = () => {};

/** Begin to listen; a steward to everybody's changes, others to their own. @param {any} who */
export function follow(who) {
  const steward = who.roles.includes("reviewer") || who.roles.includes("operator");
  const serviceOnly = who.roles.every((role) => role === "admin");
  if (serviceOnly || (!steward && who.user === null)) return;
  const heard = (change) => target.dispatchEvent(new CustomEvent("change", { detail: change }));
  end = listen(`/v1/changes${steward ? "?whole_tenant=true" : ""}`, "change", heard, show);
  show(false);
}

/** Listen no more. */
export function unfollow() {
  end();
  end = () => {};
  sign.replaceChildren();
}

/** Whether changes arrive, in a word. */
export function liveSign() {
  return sign;
}

function show(open) {
  sign.className = open ? "live is-open" : "live";
  sign.replaceChildren(open ? "Updates live" : "Updates are paused");
}

/**
 * Call `act` when something has changed, at most once in `every` milliseconds, until the page is left.
 * @param {AbortSignal} signal @param {() => void} act
 */
export function onChange(signal, act, every = 600) {
  let waiting = 0;
  const soon = () => {
    waiting ||= setTimeout(() => {
      waiting = 0;
      if (!signal.aborted) act();
    }, every);
  };
  target.addEventListener("change", soon, { signal });
}
