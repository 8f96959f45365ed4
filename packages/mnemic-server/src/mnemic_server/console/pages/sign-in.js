/** Signing in. */

import { signIn, signOnProvider } from "../api.js";
import { el } from "../dom.js";
import { field } from "../components.js";
import { inWords } from "../labels.js";

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
  wrong.textContent = inWords(refusal());
  const elsewhere = el("div", { class: "elsewhere" });
  signOnProvider().then((name) => name && elsewhere.replaceChildren(el("a", { class: "button wide", href: "/console/sign-on" }, `Sign in with ${name}`), el("p", { class: "quiet" }, "or with a key"))).catch(() => {});
  return el(
    "div",
    { class: "sign-in" },
    el("p", { class: "brand" }, el("span", { class: "mark", "aria-hidden": "true" }), "mnemic"),
    el("h1", {}, "Sign in to the console"),
    elsewhere,
    el("form", { on: { submit: send } }, field("API key", key, "It starts with mnk_. It is exchanged for a session and not stored in this browser."), wrong, submit),
    el("details", {}, el("summary", {}, "No key yet?"), el("p", {}, "The service's operator creates one with:"), el("pre", { tabindex: "0" }, "mnemic apikeys create --role reader --role writer \\\n  --role subject --for-user ana")),
  );
}

/** Why a provider's sign-in came back without a session; told once. */
function refusal() {
  const reason = new URLSearchParams(location.search).get("refused");
  if (reason !== null) history.replaceState(null, "", location.pathname + location.hash);
  return reason !== null && /^[a-z_:|]{1,80}$/.test(reason) ? reason : null;
}
