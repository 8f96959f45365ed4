/** The pages: where they are, what they are called, and whom they are shown to. What they may do, the service decides. */

const READERS = ["reader", "writer", "subject"];

/**
 * @typedef {{name: string, title: string, roles?: string[], personal?: boolean, service?: boolean, hidden?: boolean, icon?: string}} Place
 * A page is the module of its name in `pages/`. `personal` pages show one's own memory: an application has none.
 * `service` pages are for the service's own admins. `icon` is drawn on a square of 24.
 */

/** @type {Array<{title: string, places: Place[]}>} */
export const GROUPS = [
  {
    title: "Memory",
    places: [
      { name: "overview", title: "Overview", icon: "M4 13h6V4H4zm10 7h6v-9h-6zM4 20h6v-4H4zM14 8h6V4h-6z" },
      { name: "mine", title: "My memory", roles: ["subject", "writer"], personal: true, icon: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm-7 8c0-4 3-6 7-6s7 2 7 6" },
      { name: "search", title: "Search", roles: READERS, personal: true, icon: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zm5-2 4.5 4.5" },
      { name: "live", title: "Live", roles: ["writer"], personal: true, icon: "M13 3 5 14h6l-1 7 8-11h-6z" },
      { name: "import", title: "Import", roles: ["writer"], personal: true, icon: "M12 4v11m-4-4 4 4 4-4M5 20h14" },
      { name: "review", title: "Review desk", roles: ["reviewer", "subject"], icon: "M4 4h16v16H4zm4 8 3 3 5-6" },
      { name: "memory", title: "Memory", roles: READERS, personal: true, hidden: true },
    ],
  },
  {
    title: "Operate",
    places: [
      { name: "users", title: "Users", roles: ["operator"], icon: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zm-6 9c0-4 3-6 6-6s6 2 6 6m1-15.5a3.5 3.5 0 0 1 0 6.5m2 3.5c2 1 3 2.5 3 5.5" },
      { name: "keys", title: "API keys", roles: ["operator", "admin"], icon: "M8 17a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm4-4h9m-3 0v4" },
      { name: "webhooks", title: "Webhooks", roles: ["operator"], icon: "m10 14-6 6m10-10 6-6m0 0h-5m5 0v5M4 20h5m-5 0v-5" },
      { name: "audit", title: "Audit", roles: ["operator"], icon: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01" },
      { name: "policy", title: "Policy", roles: ["operator"], icon: "m12 3 8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6z" },
      { name: "tenants", title: "Tenants", service: true, icon: "M5 21V4h9v17M14 9h5v12M8 8h3m-3 4h3m-3 4h3m-8 5h18" },
      { name: "settings", title: "Settings", service: true, icon: "M4 7h10m4 0h2M4 17h2m4 0h10M16 5v4M8 15v4" },
    ],
  },
  {
    title: "More",
    places: [
      { name: "entities", title: "People and things", roles: READERS, personal: true, icon: "M7 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm10 12a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM9 8l6 8" },
      { name: "episodes", title: "Episodes", roles: READERS, personal: true, icon: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zm0-14v5l3 2" },
      { name: "runs", title: "Runs", roles: READERS, personal: true, icon: "m7 4 12 8-12 8z" },
      { name: "quotas", title: "Quotas", roles: [...READERS, "operator"], icon: "M4 18a9 9 0 1 1 16 0m-8-4 4-5" },
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
