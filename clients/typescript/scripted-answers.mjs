// Answers of a scripted model, for the tests of the middleware.
export const usage = { inputTokens: { total: 7 }, outputTokens: { total: 5 } };

export const said = (text) => ({
  content: [{ type: "text", text }],
  finishReason: { unified: "stop" }, usage, warnings: [],
});

export const call = (toolName, input) => ({
  content: [{ type: "tool-call", toolCallId: "c1", toolName, input: JSON.stringify(input) }],
  finishReason: { unified: "tool-calls" }, usage, warnings: [],
});
