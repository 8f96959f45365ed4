/** The zip of a product's export, opened in the browser: only the texts that are imported leave the machine. */

import { Problem } from "./api.js";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const LONGEST_END = 65_557;
/** Bytes that one text of an archive may have, as on the command line. */
const LARGEST_TEXT = 512 * 1024 * 1024;
const MAIN = ["conversations.json", "myactivity.json", "result.json"];

/** @typedef {{ name: string, text: () => Promise<string> }} Packed */

/** The texts of a file to import, each with the name that it is imported under. @param {File} file */
export async function textsOf(file) {
  const head = new DataView(await file.slice(0, 4).arrayBuffer());
  const zipped = head.byteLength === 4 && [LOCAL, END].includes(head.getUint32(0, true));
  if (!zipped) return [{ name: file.name.slice(0, 128), text: await file.text() }];
  const packed = (await entries(file)).filter((one) => !hidden(one.name)).sort((one, other) => (one.name < other.name ? -1 : 1));
  const ending = (...ends) => packed.filter(({ name }) => ends.some((end) => name.toLowerCase().endsWith(end)));
  if (ending("users.json").length > 0 && ending("channels.json").length > 0) return channels(packed);
  const parts = packed.filter(({ name }) => /(?:^|\/)conversations-\d+\.json$/.test(name));
  const main = parts.length > 0 ? parts : MAIN.map((name) => ending(name)[0]).filter(Boolean).slice(0, 1);
  const remembered = main.length > 0 ? packed.filter(({ name }) => /(?:^|\/)memories(?:\/[^/]+)?\.json$/.test(name)) : [];
  const texts = main.length > 0 ? [...main, ...remembered] : ending(".md", ".txt");
  if (texts.length === 0) throw new Problem(422, "invalid_input:file:directory", "The zip contains no export that is known.");
  const named = (name) => (main.length > 0 ? "export" : inner(name).toLowerCase() === "_chat.txt" ? file.name : inner(name)).slice(0, 128);
  return Promise.all(texts.map(async (one) => ({ name: named(one.name), text: await one.text() })));
}

const inner = (name) => name.slice(name.lastIndexOf("/") + 1);
const hidden = (name) => name.endsWith("/") || name.split("/").some((part) => part.startsWith(".") || part === "__MACOSX");

/** The days of each channel of Slack's export, with the names of `users.json` in their messages. @param {Packed[]} packed */
async function channels(packed) {
  const users = packed.find(({ name }) => inner(name) === "users.json");
  const people = new Map(JSON.parse(await users.text()).map((one) => [one.id, one.profile?.display_name || one.profile?.real_name || one.real_name || one.name || one.id]));
  const root = users.name.slice(0, -"users.json".length);
  const days = packed.filter(({ name }) => name.endsWith(".json") && name.startsWith(root) && name.slice(root.length).includes("/"));
  return Promise.all(days.map(async ({ name, text }) => ({ name: name.split("/").at(-2).slice(0, 128), text: withNames(await text(), people) })));
}

function withNames(text, people) {
  let said;
  try {
    said = JSON.parse(text);
  } catch {
    return text; // the import says what is wrong with it
  }
  if (!Array.isArray(said)) return text;
  const mention = (words) => words.replace(/<@(\w+)>/g, (mark, id) => (people.has(id) ? `<@${id}|${people.get(id)}>` : mark));
  return JSON.stringify(said.map((one) => ({ ...one,
    ...(people.has(one?.user) && { user_profile: { ...one.user_profile, real_name: people.get(one.user) } }),
    ...(typeof one?.text === "string" && { text: mention(one.text) }) })));
}

/** The files of an archive, by its central directory. @param {File} file @returns {Promise<Packed[]>} */
async function entries(file) {
  const tail = new DataView(await file.slice(Math.max(0, file.size - LONGEST_END)).arrayBuffer());
  let at = tail.byteLength - 22;
  while (at >= 0 && tail.getUint32(at, true) !== END) at -= 1;
  if (at < 0) throw damaged();
  const [size, start] = [tail.getUint32(at + 12, true), tail.getUint32(at + 16, true)];
  if (start === 0xffffffff) throw new Problem(413, "invalid_input:file:too_large", "Use the command line for this zip: mnemic import");
  const directory = new DataView(await file.slice(start, start + size).arrayBuffer());
  const found = [];
  for (let place = 0; place + 46 <= directory.byteLength && directory.getUint32(place, true) === ENTRY; ) {
    const [packing, packed, bytes] = [directory.getUint16(place + 10, true), directory.getUint32(place + 20, true), directory.getUint32(place + 24, true)];
    const [name, extra, comment] = [28, 30, 32].map((field) => directory.getUint16(place + field, true));
    const local = directory.getUint32(place + 42, true);
    found.push({ name: new TextDecoder().decode(new Uint8Array(directory.buffer, place + 46, name)), text: () => opened(file, local, packing, packed, bytes) });
    place += 46 + name + extra + comment;
  }
  return found;
}

async function opened(file, local, packing, packed, bytes) {
  if (bytes > LARGEST_TEXT) throw new Problem(413, "invalid_input:file:too_large", "Use the command line for this zip: mnemic import");
  const head = new DataView(await file.slice(local, local + 30).arrayBuffer());
  if (head.byteLength < 30 || head.getUint32(0, true) !== LOCAL || ![0, 8].includes(packing)) throw damaged();
  const start = local + 30 + head.getUint16(26, true) + head.getUint16(28, true);
  const data = file.slice(start, start + packed);
  try {
    return await (packing === 0 ? data.text() : new Response(data.stream().pipeThrough(new DecompressionStream("deflate-raw"))).text());
  } catch {
    throw damaged();
  }
}

const damaged = () => new Problem(422, "invalid_input:file:unreadable", "The zip is damaged, or packed in a way that browsers cannot open. Unpack it first.");
