// The mnemic service from TypeScript. `schema.ts` is generated from the service's own description; this file adds the
// credential, errors that can be told apart by their stable reason, and streams.
import createClient, { type Client, type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type Schemas = components["schemas"];
export type Memory = Schemas["MemoryAnswer"];
export type Receipt = Schemas["ReceiptAnswer"];
export type Found = Schemas["SearchAnswer"];
export type NewMemory = Partial<Schemas["NewMemory"]> & { content: string };
export type Report = Schemas["ReportAnswer"];
export type Said = Partial<Schemas["Said"]> & { content: string };
export type Search = Partial<Schemas["Search"]>;

/** A change of a memory: what was done with which version, never its content. */
export interface Change {
  sequence: number;
  action: string;
  at: string;
  level: string;
  memory_id: string;
  version: number | null;
}

/** What the service refused. `reason` is stable: programs branch on it. `retryAfter` is in seconds. */
export class MnemicError extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    readonly detail: string | null,
    readonly retryAfter: number | null,
  ) {
    super(detail === null ? reason : `${reason} - ${detail}`);
    this.name = "MnemicError";
  }
}

export interface Options {
  /** An API key, a token of the service, or a provider's JWT. */
  apiKey?: string;
  /** Takes the place of the global `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
}

/** The memory of whoever the credential stands for. `http` reaches every route, typed; the methods are the usual ones. */
export class Mnemic {
  readonly http: Client<paths>;
  private readonly headers: Record<string, string>;
  private readonly fetching: (request: Request) => Promise<Response>;

  constructor(private readonly baseUrl: string, options: Options = {}) {
    this.headers = options.apiKey === undefined ? {} : { Authorization: `Bearer ${options.apiKey}` };
    this.fetching = options.fetch ?? ((request) => fetch(request));
    this.http = createClient<paths>({ baseUrl, headers: this.headers, fetch: this.fetching });
    this.http.use(refusals);
  }

  /** Remember one thing. With an `idempotencyKey` a second delivery changes nothing. */
  async add(memory: NewMemory, idempotencyKey?: string): Promise<Receipt> {
    const { data } = await this.http.POST("/v1/memories", {
      body: memory as Schemas["NewMemory"],
      params: { header: idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey } },
    });
    return data!;
  }

  /** The best memories for a query, each with why it was found. */
  async search(query: string, search: Search = {}): Promise<Found> {
    const { data } = await this.http.POST("/v1/search", { body: { ...search, query } as Schemas["Search"] });
    return data!;
  }

  async get(memoryId: string): Promise<Memory> {
    const { data } = await this.http.GET("/v1/memories/{memory_id}", { params: { path: { memory_id: memoryId } } });
    return data!;
  }

  /** Every active memory, newest first, page by page. */
  async *list(limit = 100): AsyncGenerator<Memory> {
    let before: string | null = null;
    do {
      const query: { limit: number; before?: string } = before === null ? { limit } : { limit, before };
      const { data } = await this.http.GET("/v1/memories", { params: { query } });
      yield* data!.memories;
      before = data!.next;
    } while (before !== null);
  }

  /** Remember many things; one receipt each, in order. */
  async addMany(memories: NewMemory[], idempotencyKeys?: (string | null)[]): Promise<Receipt[]> {
    const body = { memories, ...(idempotencyKeys === undefined ? {} : { idempotency_keys: idempotencyKeys }) };
    const { data } = await this.http.POST("/v1/memories/batch", { body: body as Schemas["NewMemories"] });
    return data!.receipts;
  }

  /** Keep the messages of a conversation themselves. */
  async record(messages: Said[]): Promise<Receipt[]> {
    const { data } = await this.http.POST("/v1/messages", { body: { messages } as Schemas["Conversation"] });
    return data!.receipts;
  }

  /** Remember what is worth it in something the user said. */
  async capture(message: string, idempotencyKey?: string): Promise<Report> {
    const { data } = await this.http.POST("/v1/capture", {
      body: { message } as Schemas["Captured"],
      params: { header: idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey } },
    });
    return data!;
  }

  /** One turn: remember from `message`, answer `goal` with what is remembered. */
  async run(turn: { message?: string; goal?: string; context?: Record<string, unknown> }): Promise<Report> {
    const { data } = await this.http.POST("/v1/runs", { body: turn as Schemas["Turn"] });
    return data!;
  }

  /** How many active memories there are. */
  async count(): Promise<number> {
    const { data } = await this.http.GET("/v1/memories/count");
    return data!.count;
  }

  /** All versions of a memory, oldest first. */
  async history(memoryId: string): Promise<Memory[]> {
    const { data } = await this.http.GET("/v1/memories/{memory_id}/history", at(memoryId));
    return data!.versions;
  }

  /** What a memory took the place of, and what took its place. */
  async lineage(memoryId: string): Promise<Schemas["LineageAnswer"]> {
    const { data } = await this.http.GET("/v1/memories/{memory_id}/lineage", at(memoryId));
    return data!;
  }

  /** What was done with a memory, newest first. */
  async uses(memoryId: string): Promise<Schemas["UsesAnswer"]> {
    const { data } = await this.http.GET("/v1/memories/{memory_id}/uses", at(memoryId));
    return data!;
  }

  /** Take back what a memory replaced. */
  async undo(memoryId: string): Promise<Schemas["UndoAnswer"]> {
    const { data } = await this.http.POST("/v1/memories/{memory_id}/undo", at(memoryId));
    return data!;
  }

  /** Make a memory say again what it said in `version`. */
  async rollback(memoryId: string, version: number): Promise<Receipt> {
    const { data } = await this.http.POST("/v1/memories/{memory_id}/rollback", { ...at(memoryId), body: { version } });
    return data!;
  }

  /** Every job of upkeep. For operators. */
  async maintain(dryRun = false): Promise<Schemas["MaintenanceReportAnswer"]> {
    const { data } = await this.http.POST("/v1/maintenance", { params: { query: { dry_run: dryRun } } });
    return data!;
  }

  /** Draw together what was said. For operators. */
  async consolidate(dryRun = false): Promise<Schemas["ConsolidatedAnswer"]> {
    const { data } = await this.http.POST("/v1/consolidations", { params: { query: { dry_run: dryRun } } });
    return data!;
  }

  /** What of the tenant's memories a person should look at. For operators. */
  async doctor(limit = 2000): Promise<Schemas["HealthAnswer"]> {
    const { data } = await this.http.GET("/v1/doctor", { params: { query: { limit } } });
    return data!;
  }

  /** What may be remembered of the user, key by key. */
  readonly consent = {
    list: async (): Promise<Record<string, boolean>> => (await this.http.GET("/v1/consents")).data!.consents,
    grant: async (key: string): Promise<void> => {
      await this.http.PUT("/v1/consents/{key}", { params: { path: { key } } });
    },
    revoke: async (key: string, eraseHeld = false): Promise<Schemas["RevocationAnswer"]> => {
      const params = { path: { key }, query: { erase_held: eraseHeld } };
      return (await this.http.DELETE("/v1/consents/{key}", { params })).data!;
    },
  };

  /** Correct a memory. With `expectedVersion` only if nobody else did meanwhile. */
  async update(memoryId: string, content: string, expectedVersion?: number): Promise<Receipt> {
    const { data } = await this.http.PATCH("/v1/memories/{memory_id}", {
      params: {
        path: { memory_id: memoryId },
        header: expectedVersion === undefined ? {} : { "If-Match": `"${expectedVersion}"` },
      },
      body: { content },
    });
    return data!;
  }

  /** Delete a memory with all its versions. */
  async forget(memoryId: string): Promise<void> {
    await this.http.DELETE("/v1/memories/{memory_id}", { params: { path: { memory_id: memoryId } } });
  }

  /** A block of memories for one model call, as data. */
  async context(query: string, maxTokens = 1500): Promise<Schemas["ContextAnswer"]> {
    const { data } = await this.http.POST("/v1/context", { body: { query, max_tokens: maxTokens, top_k: 5 } });
    return data!;
  }

  /** Each change of one's memories as it comes, from behind `after` (now). Ends with the service, or with `signal`. */
  async *changes(after?: string, signal?: AbortSignal): AsyncGenerator<{ id: string; change: Change }> {
    const resume: Record<string, string> = after === undefined ? {} : { "Last-Event-ID": after };
    const init = { headers: { ...this.headers, ...resume }, ...(signal === undefined ? {} : { signal }) };
    const answer = await this.fetching(new Request(`${this.baseUrl}/v1/changes`, init));
    if (!answer.ok) throw await refusal(answer);
    for await (const event of events(answer.body!)) {
      if (event.event === "change") yield { id: event.id, change: JSON.parse(event.data) as Change };
    }
  }
}

function at(memoryId: string): { params: { path: { memory_id: string } } } {
  return { params: { path: { memory_id: memoryId } } };
}

const refusals: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) throw await refusal(response);
  },
};

async function refusal(answer: Response): Promise<MnemicError> {
  const problem = (await answer.json().catch(() => ({}))) as { reason?: string; detail?: string | null };
  const wait = answer.headers.get("Retry-After");
  return new MnemicError(
    answer.status,
    problem.reason ?? `status_${answer.status}`,
    problem.detail ?? null,
    wait === null ? null : Number(wait),
  );
}

async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<{ event: string; data: string; id: string }> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(part, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const told = { event: "message", data: "", id: "" };
      for (const line of text.slice(0, end).split("\n")) {
        const at = line.indexOf(": ");
        const name = line.slice(0, at);
        if (name === "event" || name === "data" || name === "id") told[name] = line.slice(at + 2);
      }
      text = text.slice(end + 2);
      if (told.data !== "") yield told;
    }
  }
}
