/** The service's codes in plain words, and times and numbers as people read them. */

const REASONS = {
  // the service
  unreachable: "The service does not answer. Is it still running?",
  unauthenticated: "This key is not valid: it is unknown, expired or revoked.",
  rate_limited: "Too many calls in a short time. Wait a moment and try again.",
  too_many_requests: "The service is busy. Try again in a moment.",
  role_required: "Your key does not have the role this needs",
  tenant_suspended: "Your tenant is suspended: the service's operator has closed it for now.",
  home_tenant_required: "Only an admin of the service's own tenant can do this.",
  sign_in_failed: "The sign-in failed. Please try again.",
  provider_unavailable: "The sign-in provider does not answer. Try again in a moment.",
  user_required: "This key represents an application, not a person: it has no memory to show.",
  request_timeout: "The request took too long to arrive.",
  too_many_failures: "Too many wrong credentials came from your address. Wait a little.",
  too_many_streams: "Too many windows listen for changes with this key.",
  service_refused: "The service refused this.",
  application_required: "Only the key of an application may do this.",
  csrf_token: "The session has changed in another window. Reload the page and try again.",
  cross_site: "The call came from another site's page and was refused.",
  foreign_host: "Open the console under the name of this machine.",
  not_found: "There is nothing at this address.",
  method_not_allowed: "The service does not offer this.",
  internal_error: "The service failed unexpectedly. Its log names the error.",
  // the engine
  mnemic_error: "The engine refused.",
  invalid_input: "An input cannot be used",
  invalid_config: "The service's settings cannot be used",
  unknown_argument: "A call has an argument of another name",
  unknown_verb: "There is no call of this name",
  missing_extra: "A package is not installed that this needs",
  stopped: "The run was stopped.",
  invalid_memory_candidates: "The proposed memory is not well-formed",
  memory_key_not_allowed_policy: "The policy does not allow this key",
  memory_scope_not_allowed_policy: "The policy does not allow this scope",
  invalid_retrieval_intent: "The search request is not valid",
  scope_denied: "This needs memories that were not granted",
  invalid_answer: "The answer does not stand up to the audit of its sources",
  injection_failed: "Memory was required and not available",
  max_seconds: "It took too long and was stopped.",
  max_capture_items: "One message contained more to remember than the policy allows.",
  budget: "The run has reached one of its limits.",
  llm_failed: "The language model gave nothing usable.",
  llm_timeout: "The language model took too long.",
  llm_unavailable: "The language model cannot be reached.",
  llm_invalid_json: "The language model's answer could not be read.",
  llm_invalid_schema: "The language model's answer does not have the requested form.",
  llm_empty: "The language model answered without text.",
  embedder_failed: "The text could not be turned into a vector",
  reranker_failed: "The reranker did not answer; the hits are in the usual order",
  embedding_space_mismatch: "The store was built with another embedding model than the one that runs now.",
  store_failed: "The database operation failed.",
  store_unavailable: "The database cannot be reached.",
  store_busy: "The database is busy. Try again in a moment.",
  store_full: "The disk is full: nothing new can be stored.",
  store_corrupt: "The database file is damaged.",
  store_newer: "The database was written by a newer version of mnemic.",
  store_older: "The database is older than the first release of mnemic: export it there, and import it here.",
  key_failed: "A key that protects this memory is missing or was destroyed",
  commit_unknown: "It is not known whether this was saved. Check before you try again.",
  memory_not_found: "There is no such memory, or you are not allowed to see it.",
  version_conflict: "Somebody changed this memory in the meantime. Reload it first.",
  review_denied: "You may not decide this",
  write_blocked: "This may not be changed now",
  reveal_denied: "This role may not see the values of markers",
  idempotency_key_reused: "The same request key was used for something else before.",
  not_supported: "The database in use cannot do this",
  // why a memory waits, was refused or was left out
  proposer: "whoever proposed it cannot approve it; somebody else has to",
  sensitive_key: "the key is sensitive",
  conflict: "it contradicts a memory that is at least as trusted",
  lower_trust: "it is less trusted than what it contradicts",
  kept_beside: "another memory says otherwise of the same; both are kept",
  which_of_several: "it may be about each of several things that are known",
  duplicate: "it was there already",
  near_duplicate: "it says the same as one that is known",
  already_superseded: "what it says was replaced before",
  already_waiting: "the same waits already",
  consent_required: "There is no consent for this key",
  quota_exceeded: "A quota is full",
  transient: "it is a question, or true only for the moment",
  not_durable: "it will not hold for long",
  not_understood: "no statement about somebody was recognised in it",
  hypothetical: "it is only supposed",
  third_party: "it is about somebody who is not known",
  pii_blocked: "it contains what policy never keeps",
  nothing_left: "without the secret in it, it says nothing",
  key_needs_review: "the policy has this key reviewed",
  contradiction: "it contradicts what is known",
  nothing_new: "it says nothing new",
  sources_gone: "The memories it was derived from are gone",
  retention_denied: "The policy does not keep it that long",
  key_denied_execution: "This key is not granted here.",
  scope_denied_execution: "This scope is not granted here.",
  success: "as expected",
};

/** A reason code in plain words; a code without words is shown as it is. @param {string | null | undefined} reason */
export function inWords(reason) {
  if (!reason) return "";
  if (REASONS[reason]) return REASONS[reason];
  const [code, ...rest] = reason.split(":");
  const detail = rest.join(":");
  const words = REASONS[code];
  if (!words) return detail ? `${spaced(code)}: ${spaced(detail)}` : spaced(code);
  return detail ? `${words.replace(/\.$/, "")}: ${REASONS[detail] ?? spaced(detail)}` : words;
}

/** What a memory says: a value alone ("aisle") says nothing without the name of its key. */
export function sentence({ key, content }) {
  const whole = !key || key.includes(":") || (content.includes(" ") && /[.!?]$/.test(content));
  const text = whole ? content : `${spaced(key)}: ${content}`;
  return text[0].toUpperCase() + text.slice(1);
}

const ORIGINS = { agent_inferred: "inferred by an agent", tool_output: "from a tool", operator: "set by the operator" };

/** Who or what a memory comes from; `user` is what the person is called, whose name is `owner`. */
export function originWords({ origin, speaker, session }, user = "the user", owner = null) {
  if (speaker && speaker.toLowerCase() === owner?.toLowerCase()) return `said by ${user}`;
  if (speaker) return `said by ${speaker === "user" ? user : speaker === "assistant" ? "the assistant" : speaker}`;
  if (origin === "import") return session ? `imported from “${session}”` : "imported";
  return ORIGINS[origin] ?? `said by ${user}`;
}

/** How long memories of a kind are kept. A message is kept like any other memory; the days are those of an event.
 * @param {{ kind: string, retention_days: number | null }} kind */
export function keptFor({ kind, retention_days: days }) {
  if (!days) return "until forgotten";
  const kept = `${Math.round(days)} days`;
  return kind === "episodic" ? `messages until forgotten, events ${kept}` : kept;
}

const KINDS = { long_term: "fact", persona: "how to speak", episodic: "event", entity: "person or thing", structured: "record" };

/** What sort of memory one of a kind is. @param {string} kind */
export function kindWords(kind) {
  return KINDS[kind] ?? spaced(kind);
}

/** The reasons of a hit, in the engine's words, without who said it, which stands above. @param {string | null} told */
export function whyWords(told) {
  return (told ?? "").split("; ").filter((one) => one && !/^(said by|imported)\b/.test(one)).join("; ");
}

/** A key as the name of a topic: `home_city` is "Home city". @param {string} key */
export function topic(key) {
  return spaced(key).replace(/^./, (letter) => letter.toUpperCase());
}

/** A code's words, apart: `long_term` is "long term". @param {string} code */
export function spaced(code) {
  return code.replaceAll("_", " ").replaceAll("|", " or ").replace(/^api /, "API ");
}

const STATUSES = {
  active: "in use",
  pending_review: "waits for review",
  superseded: "replaced",
  expired: "expired",
  rejected: "rejected",
  erased: "erased",
  created: "new",
  undone: "taken back",
  refreshed: "known already",
};

/** A status or an outcome as a reader would say it. @param {string} status */
export function statusWords(status) {
  return STATUSES[status] ?? spaced(status);
}

const ERASED = {
  derived: "derived memories",
  turns: "questions and answers",
  requests: "answers kept for repeated requests",
  vault: "encrypted values",
  api_keys: "API keys",
  sessions: "conversations",
  keys: "encryption keys",
  outbox: "queued changes",
  memory: "memories",
  facet: "search entries",
  bytes: "places in the raw files",
  unvacuumed: "tables not yet vacuumed",
};

/** What an erasure counted, or the place where something is left, as a reader would say it. @param {string} name */
export function erasedWords(name) {
  return ERASED[name] ?? spaced(name);
}

const LISTS = { vector: "meaning", keyword: "words", entity: "names", entities: "names", recency: "newest", graph: "connections", near: "what is near", instances: "words for instances", answers: "words of answers", told: "the time it was told", when: "a time in it", speaker: "who said it", previous: "the message before", following: "the message after", asked: "what is asked for", sibling: "telling of another thing", question: "only asking", rating: "your rating", judge: "reading it with the question" };

/** A ranked list's name. @param {string} name */
export function listWords(name) {
  return LISTS[name] ?? spaced(name);
}

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
/** @type {Array<[Intl.RelativeTimeFormatUnit, number]>} */
const UNITS = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** How long ago or ahead a moment is. @param {string} moment */
export function ago(moment) {
  const seconds = (Date.parse(moment) - Date.now()) / 1000;
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  return unit === "second" ? "just now" : RELATIVE.format(Math.round(seconds / size), unit);
}

/** A length of time. @param {number} seconds */
export function lasting(seconds) {
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ["second", 1];
  const count = Math.max(0, Math.round(seconds / size));
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

const DATE = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });
const DAY = new Intl.DateTimeFormat("en", { dateStyle: "medium" });

/** A moment in full. @param {string} moment */
export function dateTime(moment) {
  return DATE.format(new Date(moment));
}

/** A moment's day. @param {string | number} moment */
export function day(moment) {
  return DAY.format(new Date(moment));
}

const COUNT = new Intl.NumberFormat("en");

/** A count with its noun: "1 memory", "2,000 memories". @param {number} count @param {string} one @param {string} [many] */
export function counted(count, one, many = `${one}s`) {
  return `${COUNT.format(count)} ${count === 1 ? one : many}`;
}

/** A number. @param {number} value */
export function number(value) {
  return COUNT.format(value);
}

/** A share from 0 to 1. @param {number} share */
export function percent(share) {
  return `${Math.round(share * 100)}%`;
}

/** A size in bytes. @param {number} bytes */
export function size(bytes) {
  const names = ["bytes", "KB", "MB", "GB"];
  let at = 0;
  while (bytes >= 1024 && at < names.length - 1) [bytes, at] = [bytes / 1024, at + 1];
  return `${at === 0 ? bytes : bytes.toFixed(1)} ${names[at]}`;
}
