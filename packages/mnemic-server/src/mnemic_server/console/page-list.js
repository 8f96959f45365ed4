/** The pages: where they are, what they are called, and whom they are shown to. What they may do, the service decides. */

const READERS = ["reader", "writer", "subject"];

/**
 * @typedef {{name: string, title: string, roles?: string[], personal?: boolean, service?: boolean, hidden?: boolean}} Place
 * A page is the module of its name in `pages/`. `personal` pages show one's own memory: an application has none.
 * `service` pages are for the service's own admins.
 */

/** @type {Array<{title: string, places: Place[]}>} */
export const GROUPS = [
  {
    title: "Memory",
    places: [
      { name: "overview", title: "Overview" },
      { name: "live", title: "Live", roles: ["writer"], personal: true },
      { name: "search", title: "Search", roles: READERS, personal: true },
      { name: "import", title: "Import", roles: ["writer"], personal: true },
      { name: "entities", title: "People and things", roles: READERS, personal: true },
      { name: "episodes", title: "Episodes", roles: READERS, personal: true },
      { name: "memory", title: "Memory", roles: READERS, personal: true, hidden: true },
    ],
  },
  {
    title: "Care",
    places: [
      { name: "review", title: "Review desk", roles: ["reviewer", "subject"] },
      { name: "mine", title: "My memory", roles: ["subject", "writer"], personal: true },
    ],
  },
  {
    title: "Operation",
    places: [
      { name: "runs", title: "Runs", roles: READERS, personal: true },
      { name: "users", title: "Users", roles: ["operator"] },
      { name: "keys", title: "API keys", roles: ["operator", "admin"] },
      { name: "webhooks", title: "Webhooks", roles: ["operator"] },
      { name: "audit", title: "Audit", roles: ["operator"] },
      { name: "policy", title: "Policy", roles: ["operator"] },
      { name: "quotas", title: "Quotas", roles: [...READERS, "operator"] },
      { name: "tenants", title: "Tenants", service: true },
      { name: "settings", title: "Settings", service: true },
    ],
  },
];

const PLACES = GROUPS.flatMap((group) => group.places);

/** The page of a name. @param {string} name @returns {Place} */
export function placeNamed(name) {
  const place = PLACES.find((one) => one.name === name);
  if (!place) throw new RangeError(name);
  return place;
}

/** Whether a page is of use to somebody. @param {Place} place @param {any} who */
export function mayOpen(place, who, linked = false) {
  const role = !place.roles || place.roles.some((one) => who.roles.includes(one));
  return role && (!place.personal || who.user !== null) && (!place.service || who.service_admin) && (linked || !place.hidden);
}

/** What an address like `#/memory/<id>?at=2` names; the first page where it names none that may be opened. */
export function pageAt(hash, who) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  const place = PLACES.find((one) => one.name === name && mayOpen(one, who, true)) ?? PLACES[0];
  return { place, argument: rest.length > 0 ? decoded(rest.join("/")) : null, query: new URLSearchParams(query) };
}

/** What a part of an address spells; one that was typed wrong is taken as it is. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The address of a page. @param {string} name @param {string | null} [argument] @param {Record<string, string>} [query] */
export function linkTo(name, argument = null, query = {}) {
  const asked = new URLSearchParams(query).toString();
  return `#/${name}${argument === null ? "" : `/${encodeURIComponent(argument)}`}${asked ? `?${asked}` : ""}`;
}
