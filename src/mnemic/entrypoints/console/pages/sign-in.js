/** Signing in. */

import { signIn } from "../api.js";
import { el } from "../elements.js";
import { field } from "../parts.js";
import { inWords } from "../words.js";

/** @param {() => Promise<void>} signedIn what follows */
export function show(signedIn) {
  const key = el("input", { type: "password", autocomplete: "current-password", required: true, spellcheck: "false", autofocus: true });
  const wrong = el("p", { class: "wrong", role: "alert" });
  const submit = el("button", { type: "submit", class: "button primary wide" }, "Sign in");
  async function send(event) {
    event.preventDefault();
    submit.disabled = true;
    try {
      await signIn(key.value);
      await signedIn();
    } catch (problem) {
      wrong.textContent = inWords(problem.reason);
      key.select();
    } finally {
      submit.disabled = false;
    }
  }
  return el(
    "div",
    { class: "sign-in" },
    el("p", { class: "brand" }, el("span", { class: "mark", "aria-hidden": "true" }), "mnemic"),
    el("h1", {}, "Sign in to the console"),
    el("form", { on: { submit: send } }, field("API key", key, "It begins with mnk_. It is exchanged for a session and kept nowhere in this browser."), wrong, submit),
    el("details", {}, el("summary", {}, "No key yet?"), el("p", {}, "Whoever runs the service makes one:"), el("pre", { tabindex: "0" }, "mnemic apikeys create --role reader --role writer \\\n  --role subject --for-user ana")),
  );
}
