/** Counts over days, drawn as bars. Who cannot see them reads the same numbers in a table. */

import { el, several, svg } from "./dom.js";
import { narrow, table } from "./components.js";
import { day, number } from "./labels.js";

const HEIGHT = 150;
const LEFT = 44;
const FOOT = 22;

/** @typedef {{name: string, words: string, lost?: boolean}} Series `lost`: drawn below the line */

/**
 * One chart of a day's counts. @param {string} title @param {Array<Record<string, any>>} days oldest first
 * @param {Series[]} every one that is always nothing is not drawn
 */
export function dayBars(title, days, every) {
  const width = narrow() ? 330 : 440; // drawn at the size at which it is seen, so that its words can be read
  const busy = every.filter(({ name }) => days.some((one) => one[name] > 0)), series = busy.length > 0 ? busy : every.slice(0, 1);
  const most = (/** @type {boolean} */ lost) => Math.max(0, ...days.map((one) => series.reduce((sum, part) => sum + (Boolean(part.lost) === lost ? one[part.name] : 0), 0)));
  const top = nice(Math.max(1, most(false))), bottom = most(true) > 0 ? Math.max(most(true), Math.ceil(top / 6)) : 0, middle = Math.floor(days.length / 2);
  const slot = (width - LEFT) / days.length;
  const thick = Math.max(2, slot - 3);
  const up = (count) => ((HEIGHT - FOOT) * count) / (top + bottom), at = (count) => 4 + up(top - count);
  const total = (name) => days.reduce((sum, one) => sum + one[name], 0), told = every.map(({ name, words }) => `${number(total(name))} ${words}`).join(", ");
  return el(
    "figure",
    { class: "panel chart" },
    el("figcaption", {}, el("h2", {}, title), el("p", { class: "legend" }, every.map(({ name, words }, part) => el("span", { class: `series-${part}` }, `${number(total(name))} ${words}`)), null)),
    svg("svg", { viewBox: `0 0 ${width} ${HEIGHT + 4}`, role: "img", "aria-label": `${title}. ${told}. The table below has every day.` },
      [0, top / 2, top].map((level) => svg("g", { class: "level" },
        svg("line", { x1: LEFT, x2: width, y1: at(level), y2: at(level) }),
        svg("text", { x: LEFT - 8, y: at(level) + 4, "text-anchor": "end" }, number(level)))),
      days.map((one, place) => series.map(({ name, words, lost }, part) => one[name] > 0 && svg("rect", {
        class: `series-${part}`, x: LEFT + place * slot + 1, y: lost ? at(0) + 1 : at(one[name]), width: thick, height: Math.max(1, up(one[name])), rx: 1.5,
      }, svg("title", {}, `${day(one.day)}: ${number(one[name])} ${words}`)))),
      svg("text", { x: LEFT, y: HEIGHT + 2 }, day(days[0].day)),
      svg("text", { x: LEFT + slot * (middle + 0.5), y: HEIGHT + 2, "text-anchor": "middle" }, day(days[middle].day)),
      svg("text", { x: width, y: HEIGHT + 2, "text-anchor": "end" }, "today")),
    el("details", {}, el("summary", {}, "Show as a table"), table(title, ["Day", ...every.map(({ words }) => words)], days.toReversed().map((one) => [day(one.day), ...every.map(({ name }) => number(one[name]))]))),
  );
}

/** An even number at or above `most` that is easy to read. */
function nice(most) {
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10].find((one) => one * power >= most && (one * power) % 2 === 0) ?? 10;
  return Math.max(2, step * power);
}

/** Both charts of an overview. @param {{days: any[], complete: boolean}} activity */
export function activityCharts({ days, complete }) {
  return several(
    el("div", { class: "halves charts" },
      dayBars("Memories", days, [{ name: "written", words: "written" }, { name: "forgotten", words: "forgotten", lost: true }]),
      dayBars("Used in prompts", days, [{ name: "tokens", words: `tokens in ${number(days.reduce((sum, one) => sum + one.used, 0))} prompts` }])),
    !complete && el("p", { class: "quiet" }, "There was more activity than these charts can show: the earliest days show too little."),
  );
}
