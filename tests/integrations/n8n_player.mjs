// Plays a workflow of n8n as its nodes describe it: node n8n_player.mjs WORKFLOW BASE KEY '{"user": ..., "message": ...}'
// Knows what the example uses of Webhook 2, HTTP Request 4.2 and Respond to Webhook 1.1, and refuses anything else.
import { readFileSync } from "node:fs";

const [, , file, base, key, body] = process.argv;
const { nodes, connections } = JSON.parse(readFileSync(file, "utf8"));
const outputs = new Map();

const known = {
  "n8n-nodes-base.webhook": ["httpMethod", "path", "responseMode", "options"],
  "n8n-nodes-base.httpRequest": ["method", "url", "authentication", "genericAuthType", "sendHeaders", "headerParameters", "sendBody", "specifyBody", "jsonBody", "options"],
  "n8n-nodes-base.respondToWebhook": ["respondWith", "responseBody", "options"],
};

/** A parameter that begins with "=" is a text with expressions between double braces. */
function valueOf(given, input) {
  if (typeof given !== "string" || !given.startsWith("=")) return given;
  const $ = (name) => ({ item: { json: outputs.get(name) } });
  return given.slice(1).replace(/\{\{(.+?)\}\}(?!\})/gs, (_, expression) => new Function("$json", "$", `return (${expression})`)(input, $));
}

async function request(node, input) {
  const { parameters } = node;
  const headers = { "Content-Type": "application/json" };
  if (parameters.genericAuthType === "httpBearerAuth" && node.credentials.httpBearerAuth) headers.Authorization = `Bearer ${key}`;
  for (const { name, value } of parameters.sendHeaders ? parameters.headerParameters.parameters : []) headers[name] = valueOf(value, input);
  const sent = parameters.sendBody && parameters.specifyBody === "json" ? valueOf(parameters.jsonBody, input) : undefined;
  const address = new URL(valueOf(parameters.url, input));
  const answer = await fetch(new URL(address.pathname, base), { method: parameters.method, headers, body: sent });
  if (!answer.ok) throw new Error(`${node.name}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

let node = nodes.find(({ type }) => type.endsWith(".webhook"));
let input = {};
while (node) {
  for (const name of Object.keys(node.parameters)) if (!known[node.type]?.includes(name)) throw new Error(`${node.type}: ${name}`);
  if (node.type.endsWith(".webhook")) input = { body: JSON.parse(body) };
  else if (node.type.endsWith(".httpRequest")) input = await request(node, input);
  else console.log(valueOf(node.parameters.responseBody, input));
  outputs.set(node.name, input);
  const next = connections[node.name]?.main[0][0].node;
  node = nodes.find(({ name }) => name === next);
}
