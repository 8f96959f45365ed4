/** People and things, and how they stand to each other: as a drawing whose every node can be reached, and as a table. */

import { call } from "../api.js";
import { el, several } from "../dom.js";
import { choice, empty, field, head, panel, table, when } from "../components.js";
import { linkTo } from "../page-list.js";
import { drawing } from "../graph.js";
import { counted, spaced } from "../labels.js";

const HOPS = [["1", "one step"], ["2", "two steps"], ["3", "three steps"]];

/** @param {any} context */
export async function show({ argument, query, signal }) {
  const name = argument ?? "me";
  const hops = query.get("hops") ?? "2";
  const { neighbours, entities } = await call("GET", "/v1/entities/graph", { query: { name, hops, limit: 60 }, signal });
  const far = choice(HOPS, { value: hops, on: { change: () => (location.hash = linkTo("entities", name, { hops: far.value })) } });
  const list = el("datalist", { id: "known-names" }, entities.map((one) => el("option", { value: one.name })));
  const wanted = el("input", { name: "name", list: "known-names", value: name, autocomplete: "off" });
  const form = el(
    "form",
    { class: "inline", on: { submit: (event) => (event.preventDefault(), (location.hash = linkTo("entities", wanted.value || "me", { hops: far.value }))) } },
    field("From", wanted), field("As far as", far), el("button", { type: "submit", class: "button primary" }, "Show"), list,
  );
  const about = name === "me" ? "The people and things in your newest memories, and how they relate to you." : `Everyone and everything connected with ${name}.`;
  return several(head("People and things", about), form, neighbours.length === 0 ? nothing(name, entities) : connected(name, neighbours));
}

function nothing(name, entities) {
  if (entities.length === 0) return panel(null, empty("No people or things yet", "They appear as soon as a memory says how somebody relates to you, such as “Mira is my sister and lives in Bergen.”"));
  return panel(`Nothing is connected with ${name}`, el("p", {}, "Known are: "), el("ul", { class: "ranks" }, entities.slice(0, 40).map((one) => el("li", {}, el("a", { href: linkTo("entities", one.name) }, one.name), el("span", { class: "quiet" }, ` ${spaced(one.label)}`)))));
}

function connected(name, neighbours) {
  const relations = new Map(neighbours.flatMap((one) => one.path.map((relation) => [`${relation.source} ${relation.relation} ${relation.target}`, relation])));
  const names = new Map(neighbours.map((one) => [one.node, one.name]));
  const called = (node) => names.get(node) ?? name;
  return several(
    panel(null, drawing(name, neighbours, [...relations.values()])),
    panel(counted(relations.size, "relation"), table("Relations", ["From", "How", "To", "Since", "Said in"], [...relations.values()].map((one) => [
      el("a", { href: linkTo("entities", called(one.source)) }, called(one.source)),
      spaced(one.relation),
      el("a", { href: linkTo("entities", called(one.target)) }, called(one.target)),
      when(one.valid_from),
      el("a", { href: linkTo("memory", one.memory_id), "aria-label": `The memory that says: ${called(one.source)} ${spaced(one.relation)} ${called(one.target)}` }, "memory"),
    ]))),
  );
}
