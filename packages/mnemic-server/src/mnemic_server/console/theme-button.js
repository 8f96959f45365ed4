/** Light or dark: as the system has it, until somebody chooses here. Only the choice is kept in the browser. */

import { button, say } from "./components.js";

const KEPT = "mnemic.theme";
const NAMES = { light: "Light", dark: "Dark", system: "System" };

function chosen() {
  const kept = localStorage.getItem(KEPT);
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** A button that goes from one to the next. */
export function themeSwitch() {
  const words = () => `Theme: ${NAMES[chosen()]}`;
  const control = button(words(), () => {
    const names = Object.keys(NAMES);
    const next = names[(names.indexOf(chosen()) + 1) % names.length];
    if (next === "system") {
      localStorage.removeItem(KEPT);
      delete document.documentElement.dataset.theme;
    } else {
      localStorage.setItem(KEPT, next);
      document.documentElement.dataset.theme = next;
    }
    control.textContent = words();
    say(`${NAMES[next]} colours`);
  }, { kind: "quiet" });
  return control;
}
