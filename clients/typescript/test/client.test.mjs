// Against a running service: MNEMIC_URL and MNEMIC_SERVICE_KEY (reader and writer) name it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Mnemic, MnemicError } from "../dist/index.js";

const url = process.env.MNEMIC_URL;
const memory = new Mnemic(url, { apiKey: process.env.MNEMIC_SERVICE_KEY });

test("what was added is found, corrected and forgotten", async () => {
  const receipt = await memory.add({ content: "I prefer aisle seats.", key: "seat" }, "k1");
  assert.equal(receipt.outcome, "created");
  assert.equal((await memory.add({ content: "I prefer aisle seats.", key: "seat" }, "k1")).replayed, true);
  const found = await memory.search("where do I like to sit?", { top_k: 3, asked_at: "2026-03-01T09:00:00Z" });
  assert.equal(found.hits[0].memory.memory_id, receipt.memory_id);
  assert.equal((await memory.update(receipt.memory_id, "I prefer window seats.", 1)).version, 2);
  assert.equal((await memory.get(receipt.memory_id)).content, "I prefer window seats.");
  assert.match((await memory.context("seats")).text, /window seats/);
  await memory.forget(receipt.memory_id);
  await assert.rejects(memory.get(receipt.memory_id), { status: 404, reason: "memory_not_found" });
});

test("pages are walked to the end, and every route is typed", async () => {
  for (let n = 0; n < 5; n++) await memory.add({ content: `The boat number ${n} has ${n} oars.` });
  const seen = [];
  for await (const one of memory.list(2)) seen.push(one.memory_id);
  assert.equal(new Set(seen).size, 5);
  const { data } = await memory.http.GET("/v1/kinds");
  assert.equal(data.kinds.length, 7);
});

test("refusals carry the stable reason", async () => {
  const stale = await memory.add({ content: "I like tea.", key: "drink" });
  await assert.rejects(memory.update(stale.memory_id, "I like coffee.", 9), { status: 412, reason: "version_conflict" });
  const nobody = new Mnemic(url);
  await assert.rejects(nobody.search("tea"), (error) => error instanceof MnemicError && error.reason === "unauthenticated");
});

test("changes come as they happen, and are taken up again", async () => {
  const first = await memory.add({ content: "The harbour opens at nine." });
  const stop = new AbortController();
  const seen = [];
  for await (const { id, change } of memory.changes("0", stop.signal)) {
    seen.push({ id, ...change });
    if (change.memory_id === first.memory_id) break;
  }
  assert.equal(seen.at(-1).action, "created");
  for await (const { id } of memory.changes(seen.at(-2).id, stop.signal)) {
    assert.equal(id, seen.at(-1).id);
    break;
  }
});

test("what was said is governed: reviews, consent, the audit, the persona and erasure", async () => {
  const desk = new Mnemic(url, { apiKey: process.env.MNEMIC_DESK_KEY });
  const trait = await memory.persona.learn({ trait: "Answers in short sentences." });
  assert.equal(trait.outcome, "pending_review");
  const waiting = await desk.review.list({ limit: 10 });
  assert.ok(waiting.reviews.some((one) => one.memory.memory_id === trait.memory_id));
  const let_in = await desk.review.approve(trait.memory_id, "Answers briefly.");
  assert.match(await memory.persona.prompt({ max_tokens: 200 }), /Answers briefly/);
  assert.equal((await memory.persona.get()).traits.length, 1);
  assert.equal((await memory.persona.history(let_in.memory_id)).length >= 1, true);
  const other = await memory.persona.learn({ trait: "Never says please." });
  assert.equal((await desk.review.reject(other.memory_id)).memory_id, other.memory_id);

  await memory.consent.revoke("height");
  assert.equal((await memory.consent.list()).height, false);
  await memory.consent.grant("height");

  const page = await desk.audit.list({ limit: 5 });
  assert.equal(page.events.length, 5);
  assert.equal((await desk.audit.verify()).broken_at, null);

  const held = await memory.add({ content: "My harp is blue.", key: "harp" });
  assert.equal((await memory.uses(held.memory_id, { limit: 1 })).uses.length, 1);
  const before = await memory.count();
  assert.equal(await memory.count({ as_of: "2020-01-01T00:00:00Z" }), 0);
  const erasure = await memory.privacy.erase();
  assert.equal(erasure.state, "done");
  assert.ok(before > 0 && (await memory.count()) === 0);
  assert.ok(Object.values((await desk.privacy.verify(erasure.erased)).traces).every((left) => left === 0));
});

test("an application acts for each of its users, by tokens that it fetches itself", async () => {
  const issued = [];
  const fetching = (request) => {
    if (new URL(request.url).pathname === "/v1/tokens") issued.push(request.url);
    return fetch(request);
  };
  const backend = new Mnemic(url, { apiKey: process.env.MNEMIC_APPLICATION_KEY, fetch: fetching });
  await assert.rejects(backend.add({ content: "I prefer aisle seats." }), { status: 403, reason: "user_required" });
  const ana = backend.forUser("ana-of-the-app");
  const ben = backend.forUser("ben-of-the-app");
  await ana.add({ content: "I prefer aisle seats." });
  assert.equal(await ana.count(), 1);
  assert.equal(await ben.count(), 0);
  assert.equal(issued.length, 2);
});

test("a text, a message or a conversation is remembered with its data, for any user id", async () => {
  const backend = new Mnemic(url, { apiKey: process.env.MNEMIC_APPLICATION_KEY });
  for (const user of ["auth0|5f7c8ec7", "José", "a/b", "ana@example.org"]) {
    const memory = backend.forUser(user);
    await memory.remember("I live in Oslo.", { data: { topic: "home" } });
    await memory.remember({ content: "I am vegetarian." }, { data: { topic: "food" } });
    const chat = [{ role: "user", content: "Hello." }, { role: "assistant", content: "Hi." }];
    await memory.remember(chat, { infer: false, data: { topic: "talk", turn: 3 } });
    const where = JSON.stringify({ $or: [{ topic: "home" }, { turn: { $gte: 3 } }] });
    const seen = [];
    for await (const one of memory.list({ where })) seen.push(one.content);
    assert.deepEqual(seen.sort(), ["Hello.", "Hi.", "Oslo"]);
  }
});
