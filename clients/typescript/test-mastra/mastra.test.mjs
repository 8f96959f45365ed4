// The middleware in an agent of Mastra with a scripted model: the agent's own history never holds the block.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent } from "@mastra/core/agent";
import { MockMemory } from "@mastra/core/memory";
import { createTool } from "@mastra/core/tools";
import { jsonSchema, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { Mnemic } from "../dist/index.js";
import { withMemory } from "../dist/ai.js";
import { call, said, usage } from "../scripted-answers.mjs";

const application = new Mnemic(process.env.MNEMIC_URL, { apiKey: process.env.MNEMIC_APPLICATION_KEY });

function chunks({ content, finishReason }) {
  const parts = content.flatMap((part) =>
    part.type === "text"
      ? [{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: part.text }, { type: "text-end", id: "1" }]
      : [part],
  );
  return [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage }];
}

/** A model with these answers, whole or as a stream; `asked` has the prompts. */
function scripted(...answers) {
  const asked = [];
  const next = ({ prompt }) => (asked.push(prompt), answers.shift());
  const model = new MockLanguageModelV4({
    doGenerate: async (given) => next(given),
    doStream: async (given) => ({ stream: simulateReadableStream({ chunks: chunks(next(given)) }) }),
  });
  return { model, asked };
}

const agentOf = (model, memory, more = {}) =>
  new Agent({ id: "assistant", name: "assistant", instructions: "Be brief.",
    model: wrapLanguageModel({ model, middleware: withMemory(memory) }), ...more });
const blocks = (asked) => asked.map((prompt) => JSON.stringify(prompt).split("<memory fence").length - 1);

test("what was said in one conversation is shown in the next, in every step of its tool loop", async () => {
  const { model, asked } = scripted(said("Noted."), call("timetable", { city: "Denver" }), said("An aisle seat."));
  const timetable = createTool({
    id: "timetable", description: "Flights to a city.",
    inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
    execute: async () => "two flights to Denver",
  });
  const history = new MockMemory();
  const agent = agentOf(model, application.forUser("mona"), { tools: { timetable }, memory: history });

  const first = await agent.generate("I prefer aisle seats.", { memory: { thread: "t1", resource: "mona" } });
  assert.equal(first.text, "Noted.");
  const question = "Find a flight to Denver; which seat do I prefer?";
  const second = await agent.generate(question, { memory: { thread: "t2", resource: "mona" } });
  assert.equal(second.text, "An aisle seat.");
  assert.deepEqual(blocks(asked), [0, 1, 1]);
  assert.match(JSON.stringify(asked[1]), /seat: aisle/);
  assert.match(JSON.stringify(asked[2]), /two flights to Denver/);
  const kept = JSON.stringify([await history.recall({ threadId: "t2", resourceId: "mona" }), second.messages]);
  assert.match(kept, /which seat do I prefer/);
  assert.doesNotMatch(kept, /<memory/);
});

test("a stream is learnt from at its end; another user is shown nothing", async () => {
  const memory = application.forUser("milo");
  const streamed = await agentOf(scripted(said("Noted.")).model, memory).stream("I prefer window seats.");
  assert.equal(await streamed.text, "Noted.");
  assert.match((await memory.search("seat")).hits[0].memory.content, /window/);

  const other = scripted(said("I do not know."));
  const answer = await agentOf(other.model, application.forUser("mira")).generate("Which seat do I prefer?");
  assert.equal(answer.text, "I do not know.");
  assert.deepEqual(blocks(other.asked), [0]);
});

test("an outage is told and the agent answers all the same", async () => {
  const reasons = [];
  const middleware = withMemory(new Mnemic("http://127.0.0.1:9"), { onFailure: (reason) => reasons.push(reason) });
  const { model } = scripted(said("Still here."));
  const agent = new Agent({ id: "a", name: "a", instructions: "Be brief.", model: wrapLanguageModel({ model, middleware }) });
  assert.equal((await agent.generate("Which seat do I prefer?")).text, "Still here.");
  assert.deepEqual(reasons, ["service_refused:unreachable", "service_refused:unreachable"]);
});
