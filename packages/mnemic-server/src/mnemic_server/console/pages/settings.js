/** Settings that the service runs with. They are read at its start; passwords and keys are never shown. */

import { call } from "../api.js";
import { el, several } from "../dom.js";
import { field, head, panel, table } from "../components.js";

/** @param {any} context */
export async function show({ signal }) {
  const { settings } = await call("GET", "/v1/settings", { signal });
  const only = el("input", { type: "checkbox", name: "changed", id: "changed" });
  const wanted = el("input", { type: "search", name: "wanted", autocomplete: "off" });
  const shown = el("div", {});
  const draw = () => {
    const words = wanted.value.toLowerCase();
    const rows = settings.filter((one) => (!only.checked || !one.is_default) && `${one.name} ${one.meaning}`.toLowerCase().includes(words));
    shown.replaceChildren(rows.length === 0 ? el("p", { class: "quiet" }, "No setting matches.") : table("Settings", ["Setting", "Value", "Meaning"], rows.map((one) => [
      el("code", {}, one.name),
      several(one.value === null ? el("span", { class: "quiet" }, "not set") : el("code", {}, one.value), !one.is_default && el("span", { class: "tag" }, "changed")),
      one.meaning,
    ])));
  };
  only.addEventListener("change", draw);
  wanted.addEventListener("input", draw);
  draw();
  return several(
    head("Settings", "The settings this service was started with. To change one, set its environment variable and restart the service."),
    panel(null, el("div", { class: "inline" }, field("Find", wanted), el("p", { class: "check" }, only, el("label", { for: "changed" }, "Only what differs from the default"))), shown),
  );
}
