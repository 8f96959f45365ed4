/**
 * Calling the service. The only place that does: every call carries the session's CSRF token, and every refusal becomes
 * a `Problem` with the service's stable reason.
 */

/** A refusal of the service (RFC 9457), or `reason` "unreachable" where none came back. */
export class Problem extends Error {
  /** @param {number} status @param {string} reason @param {string | null} [detail] */
  constructor(status, reason, detail = null) {
    super(reason);
    this.status = status;
    this.reason = reason;
    this.detail = detail;
  }
}

let csrf = null;
let onSignedOut = () => {};

/** What becomes of calls whose session is over. @param {() => void} listener */
export function whenSignedOut(listener) {
  onSignedOut = listener;
}

/** @typedef {{body?: any, query?: Record<string, any>, ifMatch?: number, once?: string, signal?: AbortSignal, quiet?: boolean}} How */

/**
 * One call. @param {string} method @param {string} path @param {How} [how]
 * `once` is an idempotency key, `ifMatch` a version; `quiet` leaves a 401 to the caller.
 * @returns {Promise<any>} the answer's JSON, or null where it has none
 */
export async function call(method, path, how = {}) {
  const response = await answered(method, path, how);
  return response.status === 204 ? null : response.json();
}

/** One call whose answer is a file. @param {string} path @returns {Promise<Blob>} */
export async function fetchFile(path) {
  return (await answered("GET", path, {})).blob();
}

/** @param {string} method @param {string} path @param {How} how */
async function answered(method, path, { body, query, ifMatch, once, signal, quiet }) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (csrf && method !== "GET") headers["X-CSRF-Token"] = csrf;
  if (ifMatch !== undefined) headers["If-Match"] = `"${ifMatch}"`;
  if (once !== undefined) headers["Idempotency-Key"] = once;
  let response;
  try {
    response = await fetch(path + asQuery(query), { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch (failure) {
    if (signal?.aborted) throw failure;
    throw new Problem(0, "unreachable");
  }
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  if (response.status === 401 && !quiet) onSignedOut();
  throw new Problem(response.status, said.reason ?? "internal_error", said.detail ?? null);
}

function asQuery(query = {}) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== null && one !== undefined && one !== "") given.append(name, one);
    }
  }
  const text = given.toString();
  return text ? `?${text}` : "";
}

/**
 * Events of the service as they happen; the browser takes a broken stream up again by itself.
 * @param {string} path @param {string} name @param {(data: any) => void} listener
 * @param {(open: boolean) => void} state told whether the stream runs
 * @returns {() => void} ends it
 */
export function listen(path, name, listener, state) {
  const source = new EventSource(path);
  source.addEventListener(name, (event) => listener(JSON.parse(event.data)));
  source.addEventListener("open", () => state(true));
  source.addEventListener("error", () => state(false));
  return () => source.close();
}

/** Whom this browser has signed in as, or null. */
export async function session() {
  const who = await call("GET", "/console/session", { query: { probe: true }, quiet: true });
  return who === null ? null : kept(who);
}

/** Exchange an API key for a session; the key is kept nowhere here. @param {string} apiKey */
export async function signIn(apiKey) {
  return kept(await call("POST", "/console/session", { body: { api_key: apiKey }, quiet: true }));
}

/** The name of the provider where one can sign in, too; null: there is none. */
export async function signOnProvider() {
  return (await call("GET", "/console/sign-on/provider", { quiet: true })).name;
}

/** End the session. @returns {Promise<string | null>} where the provider ends its own, if it does */
export async function signOut() {
  const answer = await call("DELETE", "/console/session", { quiet: true });
  csrf = null;
  return answer?.there ?? null;
}

function kept(who) {
  csrf = who.csrf_token;
  return who;
}

/**
 * Sends what a form holds so that it counts once: what got no answer, or none that tells what became of it, keeps its
 * idempotency key for as long as the same is sent again.
 * @param {string} path @returns {(body: any) => Promise<any>}
 */
export function sender(path) {
  let [sent, once] = ["", ""];
  return async (body) => {
    const text = JSON.stringify(body);
    if (text !== sent) [sent, once] = [text, onceKey()];
    try {
      const answer = await call("POST", path, { body, once });
      sent = "";
      return answer;
    } catch (problem) {
      if (problem instanceof Problem && problem.status >= 400 && problem.status < 500) sent = "";
      throw problem;
    }
  };
}

function onceKey() {
  return crypto.randomUUID?.() ?? `${Date.now()}-${Math.random().toString(36).slice(2)}`;
}
