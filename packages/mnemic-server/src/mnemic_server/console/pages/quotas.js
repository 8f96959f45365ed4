/** Limits, and how near they are. */

import { call } from "../api.js";
import { el, several } from "../dom.js";
import { empty, head, panel, table } from "../components.js";
import { keptFor, number, percent, size, spaced } from "../labels.js";

/** @param {any} context */
export async function show({ who, signal }) {
  const personal = who.user !== null && who.roles.some((role) => ["reader", "writer", "subject"].includes(role));
  const [own, known, tenant] = await Promise.all([
    personal && call("GET", "/v1/quotas", { signal }),
    personal && call("GET", "/v1/kinds", { signal }),
    who.roles.includes("operator") && call("GET", "/v1/tenant/quotas", { signal }),
  ]);
  return several(
    head("Quotas", "How much may be stored, and how much of that is used. Limits are set by the policy, and for a tenant by the service's operator."),
    own && panel("Yours", limits(own, "your memories"), el("h3", {}, "How long it is kept"), table("How long each kind is kept", ["Kind", "Kept"], known.kinds.filter((one) => one.held !== null).map((one) => [spaced(one.kind), keptFor(one)]))),
    tenant && panel("All users together", limits(tenant, `all of ${who.tenant}`)),
  );
}

function limits({ quotas, held }, whose) {
  return several(
    quotas.length === 0
      ? empty("No limit is set", "The policy sets none: the only limit is the disk.")
      : table(`Limits of ${whose}`, ["What", "Limit", "Used", ""], quotas.flatMap((quota) => Object.entries(quota.used).map(([name, used]) => [
          quota.kind ? spaced(quota.kind) : "everything",
          several(limitWords(quota, name.split(".").at(-1)), el("span", { class: "quiet" }, ` · warns from ${percent(quota.soft)}`)),
          el("span", { class: "number" }, el("meter", { class: "bar", min: "0", max: "1", high: quota.soft, value: Math.min(1, used), "aria-label": "Used" }), " ", percent(used)),
          used >= 1 ? el("span", { class: "badge is-blocked" }, "full") : used >= quota.soft && el("span", { class: "badge is-pending_review" }, "nearly full"),
        ]))),
    el("h3", {}, "What is held"),
    table(`What is held of ${whose}`, ["Kind", "Memories", "Size", "In the last minute"], Object.entries(held).map(([kind, one]) => [spaced(kind), number(one.rows), size(one.bytes), number(one.recent)])),
  );
}

/** A limit with its number. @param {any} quota @param {string} name rows, bytes or writes_a_minute */
export function limitWords(quota, name) {
  const words = { rows: "memories", writes_a_minute: "writes a minute" };
  return name === "bytes" ? size(quota.bytes) : `${number(quota[name])} ${words[name]}`;
}
