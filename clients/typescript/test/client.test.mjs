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
  const found = await memory.search("where do I like to sit?", { top_k: 3 });
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
