// The middleware for the AI SDK, in the SDK itself with its own scripted model.
import assert from "node:assert/strict";
import { test } from "node:test";
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { Mnemic } from "../dist/index.js";
import { withMemory } from "../dist/ai.js";
import { call, said, usage } from "../scripted-answers.mjs";

const application = new Mnemic(process.env.MNEMIC_URL, { apiKey: process.env.MNEMIC_APPLICATION_KEY });

function scripted(...answers) {
  return new MockLanguageModelV4({ doGenerate: async () => answers.shift() });
}

const blocks = (model) => model.doGenerateCalls.map((one) => JSON.stringify(one.prompt).split("<memory fence").length - 1);

test("what was said in one conversation is shown in the next, in every step of its tool loop", async () => {
  const memory = application.forUser("vera");
  const model = scripted(said("Noted."), call("timetable", { city: "Denver" }), said("An aisle seat."));
  const wrapped = wrapLanguageModel({ model, middleware: withMemory(memory) });
  const timetable = tool({
    description: "Flights to a city.",
    inputSchema: jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }),
    execute: async ({ city }) => `two flights to ${city}`,
  });

  const first = await generateText({ model: wrapped, prompt: "I prefer aisle seats." });
  assert.equal(first.text, "Noted.");
  const messages = [{ role: "user", content: "Find a flight to Denver; which seat do I prefer?" }];
  const second = await generateText({ model: wrapped, messages, tools: { timetable }, stopWhen: stepCountIs(3) });
  assert.equal(second.text, "An aisle seat.");
  assert.deepEqual(blocks(model), [0, 1, 1]);
  assert.match(JSON.stringify(model.doGenerateCalls[1].prompt), /aisle/);
  const [held, again] = model.doGenerateCalls.slice(1).map((one) => one.prompt[0]);
  assert.deepEqual(held, again);
  assert.doesNotMatch(JSON.stringify([messages, second.response.messages]), /<memory/);
});

test("a stream is passed on as it comes and learnt from at its end; another user is shown nothing", async () => {
  const chunks = [
    { type: "stream-start", warnings: [] }, { type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "Noted." },
    { type: "text-end", id: "1" }, { type: "finish", finishReason: { unified: "stop" }, usage },
  ];
  const model = new MockLanguageModelV4({ doStream: async () => ({ stream: simulateReadableStream({ chunks }) }) });
  const memory = application.forUser("walt");
  const result = streamText({ model: wrapLanguageModel({ model, middleware: withMemory(memory) }), prompt: "I prefer window seats." });
  assert.equal(await result.text, "Noted.");
  assert.match((await memory.search("seat")).hits[0].memory.content, /window/);

  const other = scripted(said("I do not know."));
  const wrapped = wrapLanguageModel({ model: other, middleware: withMemory(application.forUser("yuri")) });
  await generateText({ model: wrapped, prompt: "Which seat do I prefer?" });
  assert.deepEqual(blocks(other), [0]);
});

test("an outage is told and the model answers all the same", async () => {
  const reasons = [];
  const model = scripted(said("Still here."));
  const nowhere = new Mnemic("http://127.0.0.1:9");
  const middleware = withMemory(nowhere, { onFailure: (reason) => reasons.push(reason) });
  const { text } = await generateText({ model: wrapLanguageModel({ model, middleware }), prompt: "Which seat do I prefer?" });
  assert.equal(text, "Still here.");
  assert.deepEqual(reasons, ["service_refused:unreachable", "service_refused:unreachable"]);
});
