/** What changed between two texts, word by word. */

import { el } from "./dom.js";

const MOST = 1200;

/**
 * The texts cut into runs that are the same, gone or new (longest common subsequence of words).
 * @param {string} old @param {string} fresh @returns {Array<["same" | "gone" | "new", string]>}
 */
export function changes(old, fresh) {
  return compared(old, fresh, (word) => word.trim()).map(([kind, text]) => [kind, text]);
}

/** The runs; one that is the same also as the old text has it, as words count as the same that `bare` makes equal. */
function compared(old, fresh, bare) {
  const before = words(old), after = words(fresh);
  if (before.length > MOST || after.length > MOST) return [["gone", old], ["new", fresh]];
  const runs = [], same = (one, other) => bare(one) === bare(other);
  const put = (kind, word, was = word) => {
    const last = runs.at(-1);
    if (last?.[0] !== kind) runs.push([kind, word, was]);
    else [last[1], last[2]] = [last[1] + word, last[2] + was];
  };
  const longest = lengths(before, after, same);
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && same(before[i], after[j])) {
      put("same", after[j], before[i]);
      [i, j] = [i + 1, j + 1];
    } else if (j >= after.length || (i < before.length && longest[i + 1][j] >= longest[i][j + 1])) {
      put("gone", before[i]);
      i += 1;
    } else {
      put("new", after[j]);
      j += 1;
    }
  }
  return runs;
}

/** Each word with the space behind it, so that neighbours that changed stay together. */
function words(text) {
  return text.match(/\s*\S+\s*/g) ?? [];
}

/** `longest[i][j]`: how many words the rests from i and from j have in common, in order. */
function lengths(before, after, same) {
  const longest = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      longest[i][j] = same(before[i], after[j]) ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  return longest;
}

const TAGS = { same: "span", gone: "del", new: "ins" };

/** The change as a paragraph; who hears it is told what was taken out and what was put in. */
export function diff(old, fresh) {
  return el(
    "p",
    { class: "diff" },
    changes(old, fresh).map(([kind, text]) =>
      el(TAGS[kind], {}, kind !== "same" && el("span", { class: "unseen" }, kind === "gone" ? " [removed: " : " [added: "), text, kind !== "same" && el("span", { class: "unseen" }, "] ")),
    ),
  );
}

/** Who speaks is no difference of meaning: "I prefer" and "prefers" say the same. */
const WHO = new Set(["i", "my", "me", "am", "is", "are", "he", "she", "they", "his", "her", "their", "the", "a", "an"]);
const bare = (word) => word.trim().toLowerCase().replace(/[.,;:!?]+$/, "").replace(/(?<=\w{3})s$/, "");

/**
 * Two texts to stand beside each other: the old with what goes marked, the new with what comes, as far as it means something
 * else; and in words what is replaced (`pairs` of old and new), `dropped` and `added`. Texts with hardly a word in common
 * are not marked: all of it is another thing.
 */
export function sides(old, fresh) {
  const runs = compared(old, fresh, bare).map(([kind, text, was]) => [kind !== "same" && text.trim().split(/\s+/).every((word) => WHO.has(bare(word))) ? "who" : kind, text, was, kind]);
  const pairs = [], dropped = [], added = [], clean = (text) => text.trim().replace(/[.,;:!?]+$/, "").replace(/^(?:(?:I|my|am|is|are|the|an?) )+/i, "");
  runs.forEach(([kind, text], at) => {
    if (kind === "gone") (runs[at + 1]?.[0] === "new" ? pairs.push([clean(text), clean(runs[at + 1][1])]) : dropped.push(clean(text)));
    else if (kind === "new" && runs[at - 1]?.[0] !== "gone") added.push(clean(text));
  });
  const common = runs.filter(([kind]) => kind === "same").flatMap(([, text]) => text.trim().split(/\s+/)).filter((word) => bare(word).length > 3).length;
  const close = common > 0;
  const only = (hidden) => el("p", { class: "diff whole" }, runs.filter(([, , , kind]) => kind !== hidden).map(([kind, text, was]) => el(close && kind in TAGS ? TAGS[kind] : "span", {}, hidden === "new" ? was : text)));
  return { before: only("new"), after: only("gone"), close, pairs, dropped, added };
}
