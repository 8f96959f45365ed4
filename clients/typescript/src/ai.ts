// Memory for the Vercel AI SDK: a middleware around a language model.
//
//   const model = wrapLanguageModel({ model: openai("gpt-4.1-mini"), middleware: withMemory(memory.forUser("ana")) });
import type { LanguageModelMiddleware } from "ai";
import { MnemicError, type Mnemic, type Wanted } from "./index.js";

type Params = Parameters<NonNullable<LanguageModelMiddleware["transformParams"]>>[0]["params"];
type Prompt = Params["prompt"];

export interface MemoryOptions {
  /** Bounds of the block: `max_tokens`, `top_k`. */
  context?: Omit<Wanted, "query">;
  /** False: nothing is learnt from what the user says. */
  capture?: boolean;
  /** Told when the memory could not be asked; the model answers all the same. */
  onFailure?: (reason: string) => void;
}

/** Questions whose block is remembered, so that every step of a tool loop carries the same one. */
const REMEMBERED = 64;

/**
 * Put what is remembered of the user into the calls of a model, as a text of its own in front of the question, and
 * capture what the user said once it is answered. The messages of the program never hold the block.
 */
export function withMemory(memory: Mnemic, options: MemoryOptions = {}): LanguageModelMiddleware {
  const blocks = new Map<string, Promise<string>>();
  const captured = new Set<string>();

  const attempted = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work();
    } catch (failure) {
      options.onFailure?.(failure instanceof MnemicError ? failure.reason : "service_refused:unreachable");
      return otherwise;
    }
  };

  const blockFor = (question: string, at: number): Promise<string> => {
    const key = `${at} ${question}`;
    const held = blocks.get(key) ?? attempted(async () => (await memory.context(question, options.context)).text, "");
    blocks.delete(key);
    blocks.set(key, held);
    if (blocks.size > REMEMBERED) blocks.delete(blocks.keys().next().value!);
    return held;
  };

  const learnt = async (prompt: Prompt): Promise<void> => {
    const at = asked(prompt);
    const question = at < 0 ? "" : textOf(prompt, at, true);
    const key = `${at} ${question}`;
    if (options.capture === false || !question || captured.has(key)) return;
    captured.add(key);
    if (captured.size > REMEMBERED) captured.delete(captured.values().next().value!);
    await attempted(async () => void (await memory.capture(question)), undefined);
  };

  return {
    specificationVersion: "v4",
    transformParams: async ({ params }) => {
      const at = asked(params.prompt);
      const block = at < 0 ? "" : await blockFor(textOf(params.prompt, at), at);
      return block ? { ...params, prompt: withBlock(params.prompt, at, block) } : params;
    },
    wrapGenerate: async ({ doGenerate, params }) => {
      const result = await doGenerate();
      if (!result.content.some((part) => part.type === "tool-call")) await learnt(params.prompt);
      return result;
    },
    wrapStream: async ({ doStream, params }) => {
      const { stream, ...rest } = await doStream();
      let calls = false;
      const passed = new TransformStream<any, any>({
        transform: (part, controller) => {
          calls ||= part.type === "tool-call";
          controller.enqueue(part);
        },
        flush: () => (calls ? undefined : learnt(params.prompt)),
      });
      return { ...rest, stream: stream.pipeThrough(passed) };
    },
  };
}

/** The place of the user's latest message; -1 where there is none. */
function asked(prompt: Prompt): number {
  return prompt.findLastIndex((message) => message.role === "user");
}

/** The texts of a message; `own` leaves out the block that was put into it. */
function textOf(prompt: Prompt, at: number, own = false): string {
  const parts = prompt[at]!.content as { type: string; text?: string }[];
  const texts = parts.filter((part) => part.type === "text").map((part) => part.text ?? "");
  return texts.filter((text) => !own || !text.startsWith("<memory")).join("\n").trim();
}

function withBlock(prompt: Prompt, at: number, block: string): Prompt {
  const message = prompt[at] as Extract<Prompt[number], { role: "user" }>;
  return prompt.with(at, { ...message, content: [{ type: "text", text: block }, ...message.content] });
}
