// The mnemic service from TypeScript. `schema.ts` is generated from the service's own description; this file adds the
// credential, errors that can be told apart by their stable reason, and streams.
import createClient, { type Client, type Middleware } from "openapi-fetch";
import type { components, paths } from "./schema.js";

export type Schemas = components["schemas"];
export type Memory = Schemas["MemoryResponse"];
export type Receipt = Schemas["ReceiptResponse"];
export type Found = Schemas["SearchResponse"];
export type NewMemory = Partial<Schemas["NewMemory"]> & { content: string };
export type Report = Schemas["ReportResponse"];
export type MemoryRequest = Partial<Schemas["MemoryRequested"]> & { kind: Schemas["MemoryRequested"]["kind"] };
export type Said = Partial<Schemas["MessageBody"]> & Pick<Schemas["MessageBody"], "content">;
export type Remembering = Partial<Schemas["RememberRequest"]>;
export type Search = Partial<Schemas["Search"]>;
export type Correction = Partial<Schemas["Correction"]>;
export type Forget = Partial<Schemas["ForgetRequest"]>;
export type Kinds = NonNullable<Schemas["RetrieveRequest"]["kinds"]>;
export type Wanted = Partial<Schemas["ContextRequest"]>;
/** What an operation takes behind the question mark. */
export type Query<P extends keyof paths, M extends "get" | "post" | "delete"> = paths[P] extends {
  [K in M]: { parameters: { query?: infer Q } };
}
  ? NonNullable<Q>
  : never;

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

/** Seconds for which the service is asked to wait for the end of an erasure, before it is asked again. */
const WAITED = 10;

/** A user's token, and when it is to be renewed. */
interface Token {
  text: string;
  until: number;
}

const EXPIRED: Token = { text: "", until: 0 };
/** Milliseconds for each second of a token's life: it is renewed after half of it. */
const RENEWED_AT = 500;

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

  /**
   * The memory of one of an application's users, for the key of an application: it acts by tokens of the user, which it
   * fetches and renews itself. `session` names the conversation in progress.
   */
  forUser(user: string, session?: string): Mnemic {
    let held: Promise<Token> | undefined;
    const token = async (): Promise<string> => {
      if (held === undefined || (await held.catch(() => EXPIRED)).until <= Date.now()) held = this.issued(user, session);
      return (await held).text;
    };
    const fetching = async (request: Request): Promise<Response> => {
      const shown = new Request(request);
      shown.headers.set("Authorization", `Bearer ${await token()}`);
      return this.fetching(shown);
    };
    return new Mnemic(this.baseUrl, { fetch: fetching });
  }

  private async issued(user: string, session?: string): Promise<Token> {
    const body = { user, session: session ?? null } as Schemas["TokenRequest"];
    const { data } = await this.http.POST("/v1/tokens", { body });
    return { text: data!.token, until: Date.now() + data!.expires_in * RENEWED_AT };
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

  /** One memory, or as it was true (`as_of`) or known (`known_at`) at another time. */
  async get(memoryId: string, query: Query<"/v1/memories/{memory_id}", "get"> = {}): Promise<Memory> {
    const { data } = await this.http.GET("/v1/memories/{memory_id}", of(memoryId, query));
    return data!;
  }

  /** Every active memory, newest first, page by page of `limit`. */
  async *list(asked: number | Query<"/v1/memories", "get"> = 100): AsyncGenerator<Memory> {
    const query = typeof asked === "number" ? { limit: asked } : { ...asked };
    let before: string | null = query.before ?? null;
    do {
      const page = before === null ? query : { ...query, before };
      const { data } = await this.http.GET("/v1/memories", { params: { query: page } });
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

  /** Remember what is worth it in messages of a conversation: a report for each of the user's own, null for others. */
  async captureMany(messages: Said[], idempotencyKeys?: (string | null)[]): Promise<(Report | null)[]> {
    const body = { messages, ...(idempotencyKeys === undefined ? {} : { idempotency_keys: idempotencyKeys }) };
    const { data } = await this.http.POST("/v1/capture/batch", { body: body as Schemas["CapturedMessages"] });
    return data!.reports;
  }

  /**
   * Remember what is worth it in a text of the user, a message, or the messages of a conversation; with `infer` false
   * keep them as they are. `data` is stored with each memory.
   */
  async remember(said: string | Said | Said[], { infer = true, data }: Remembering = {}): Promise<Receipt[]> {
    const messages = typeof said === "string" ? [{ content: said }] : Array.isArray(said) ? said : [said];
    const body = { messages, infer, data: data ?? null };
    const answer = await this.http.POST("/v1/remember", { body: body as Schemas["RememberRequest"] });
    return answer.data!.receipts;
  }

  /** Who the user is and what holds now, each line with the memory that proves it. */
  async profile(query: Query<"/v1/profile", "get"> = {}): Promise<Schemas["UserProfileResponse"]> {
    const { data } = await this.http.GET("/v1/profile", { params: { query } });
    return data!;
  }

  /** The best across kinds, best first, with what did not answer in `errors`. */
  async retrieve(query: string, kinds?: Kinds, topK = 10): Promise<Schemas["RetrievedResponse"]> {
    const body = { query, kinds: kinds ?? null, top_k: topK };
    const { data } = await this.http.POST("/v1/retrieve", { body: body as Schemas["RetrieveRequest"] });
    return data!;
  }

  /** Do what a message asked of memory (`asked` of its report), once its user has confirmed it. */
  async carryOut(request: MemoryRequest): Promise<Schemas["CarriedOutResponse"]> {
    const { data } = await this.http.POST("/v1/memory-requests", { body: request as Schemas["MemoryRequested"] });
    return data!;
  }

  /** One turn: remember from `message`, answer `goal` with what is remembered. */
  async run(
    turn: { message?: string; goal?: string; context?: Record<string, unknown>; min_score?: number; asked_at?: string },
    idempotencyKey?: string,
  ): Promise<Report> {
    const { data } = await this.http.POST("/v1/runs", {
      body: turn as Schemas["Turn"],
      params: { header: idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey } },
    });
    return data!;
  }

  /** How many active memories there are, or were. */
  async count(query: Query<"/v1/memories/count", "get"> = {}): Promise<number> {
    const { data } = await this.http.GET("/v1/memories/count", { params: { query } });
    return data!.count;
  }

  /** All versions of a memory, oldest first. */
  async history(memoryId: string, query: Query<"/v1/memories/{memory_id}/history", "get"> = {}): Promise<Memory[]> {
    const { data } = await this.http.GET("/v1/memories/{memory_id}/history", of(memoryId, query));
    return data!.versions;
  }

  /** What a memory took the place of, and what took its place. */
  async lineage(memoryId: string): Promise<Schemas["LineageResponse"]> {
    const { data } = await this.http.GET("/v1/memories/{memory_id}/lineage", at(memoryId));
    return data!;
  }

  /** What was done with a memory, newest first. */
  async uses(
    memoryId: string,
    query: Query<"/v1/memories/{memory_id}/uses", "get"> = {},
  ): Promise<Schemas["UsesResponse"]> {
    const { data } = await this.http.GET("/v1/memories/{memory_id}/uses", of(memoryId, query));
    return data!;
  }

  /** Take back what a memory replaced. */
  async undo(memoryId: string): Promise<Schemas["UndoResponse"]> {
    const { data } = await this.http.POST("/v1/memories/{memory_id}/undo", at(memoryId));
    return data!;
  }

  /** Make a memory say again what it said in `version`. */
  async rollback(memoryId: string, version: number): Promise<Receipt> {
    const { data } = await this.http.POST("/v1/memories/{memory_id}/rollback", { ...at(memoryId), body: { version } });
    return data!;
  }

  /** Say that a memory is useful or wrong to the user; `none` withdraws it. */
  async rate(memoryId: string, verdict: "useful" | "wrong" | "none"): Promise<Schemas["RatingResponse"] | null> {
    const { data } = await this.http.PUT("/v1/memories/{memory_id}/rating", { ...at(memoryId), body: { verdict } });
    return data!.rating;
  }

  /** What the user said of memories, newest first, each with the effect that it has. */
  async ratings(): Promise<Schemas["RatedMemoryResponse"][]> {
    const { data } = await this.http.GET("/v1/ratings", {});
    return data!.ratings;
  }

  /** Every job of upkeep. For operators. */
  async maintain(dryRun = false, whole = false): Promise<Schemas["MaintenanceReportResponse"]> {
    const { data } = await this.http.POST("/v1/maintenance", { params: { query: { dry_run: dryRun, whole } } });
    return data!;
  }

  /** Mark what has expired, purge what was marked a grace period ago. For operators. */
  async expire(rules?: Partial<Schemas["RulesOfExpiry"]>, dryRun = false): Promise<Schemas["ExpiryReportResponse"]> {
    const body = { rules: rules ?? null, dry_run: dryRun };
    const { data } = await this.http.POST("/v1/expiry", { body: body as Schemas["ExpiryRequest"] });
    return data!;
  }

  /** Draw together what was said; without `rules` no model is asked. For operators. */
  async consolidate(
    dryRun = false,
    rules?: Partial<Schemas["RulesOfConsolidation"]>,
  ): Promise<Schemas["ConsolidationReportResponse"]> {
    const { data } = await this.http.POST("/v1/consolidations", {
      params: { query: { dry_run: dryRun } },
      body: { rules: rules ?? null } as Schemas["ConsolidationRequest"],
    });
    return data!;
  }

  /** Read the recorded messages again with the service's reader; `dry_run` only says what would differ. */
  async reread(query: Query<"/v1/rereads", "post"> = {}): Promise<Schemas["RereadReportResponse"]> {
    const { data } = await this.http.POST("/v1/rereads", { params: { query } });
    return data!;
  }

  /** Take back what reading again has changed; the number of memories. */
  async undoReread(runId: string): Promise<number> {
    const { data } = await this.http.POST("/v1/rereads/{run_id}/undo", { params: { path: { run_id: runId } } });
    return data!.memories;
  }

  /** Take back an import: what it made is forgotten, what it changed is as before. */
  async undoImport(importId: string): Promise<Schemas["ImportUndoneResponse"]> {
    const { data } = await this.http.POST("/v1/imports/{import_id}/undo", { params: { path: { import_id: importId } } });
    return data!;
  }

  /** What of the tenant's memories a person should look at. For operators. */
  async doctor(limit = 2000): Promise<Schemas["HealthResponse"]> {
    const { data } = await this.http.GET("/v1/doctor", { params: { query: { limit } } });
    return data!;
  }

  /** The erasure, once it has ended. Throws what it failed with. */
  private async ended(job: Schemas["ErasureJobResponse"]): Promise<Schemas["ErasureJobResponse"]> {
    while (job.state === "running") {
      const params = { path: { erasure_id: job.erasure_id }, query: { wait: WAITED } };
      job = (await this.http.GET("/v1/erasures/{erasure_id}", { params })).data!;
    }
    if (job.erased == null) throw new MnemicError(500, job.reason ?? "store_failed", null, null);
    return job;
  }

  /** What may be remembered of the user, key by key. */
  readonly consent = {
    list: async (): Promise<Record<string, boolean>> => (await this.http.GET("/v1/consents")).data!.consents,
    grant: async (key: string): Promise<void> => {
      await this.http.PUT("/v1/consents/{key}", { params: { path: { key } } });
    },
    /** From now on nothing is written or found under `key`; with `eraseHeld` returns once what is held is erased. */
    revoke: async (key: string, eraseHeld = false): Promise<Schemas["RevocationResponse"]> => {
      const params = { path: { key }, query: { erase_held: eraseHeld } };
      const revoked = (await this.http.DELETE("/v1/consents/{key}", { params })).data!;
      return revoked.erasure == null ? revoked : { ...revoked, hidden: 0, erasure: await this.ended(revoked.erasure) };
    },
  };

  /** What waits for a person. Whoever proposed a memory cannot approve it. */
  readonly review = {
    /** A page of the queue, oldest first. */
    list: async (query: Query<"/v1/reviews", "get"> = {}): Promise<Schemas["ReviewPageResponse"]> =>
      (await this.http.GET("/v1/reviews", { params: { query } })).data!,
    /** Let it in, with `content` in other words. */
    approve: async (memoryId: string, content?: string, expectedVersion?: number): Promise<Receipt> =>
      this.approved(memoryId, { content: content ?? null, expected_version: expectedVersion ?? null }),
    /** Let it in, in the place of the memories named by `into` too. */
    merge: async (memoryId: string, into: string[], content?: string): Promise<Receipt> =>
      this.approved(memoryId, { content: content ?? null, merge_with: into }),
    reject: async (memoryId: string): Promise<Receipt> =>
      (await this.http.POST("/v1/reviews/{memory_id}/rejection", at(memoryId))).data!,
  };

  /** Everything that is held about somebody, and its end. */
  readonly privacy = {
    /** Erase everything about oneself, or as an operator about `subject`. Returns once it has ended. */
    erase: async (subject?: string, block = false): Promise<Schemas["ErasureJobResponse"]> => {
      const job = (await this.http.POST("/v1/erasures", { body: { subject: subject ?? null, block } })).data!;
      return this.ended(job);
    },
    /** What a scan finds now of what was erased, by place. */
    verify: async (receipt: object): Promise<Schemas["VerificationResponse"]> => {
      const body = receipt as Record<string, never>;
      return (await this.http.POST("/v1/erasures/verification", { body })).data!;
    },
  };

  /** The tenant's audit. It holds no content. */
  readonly audit = {
    list: async (query: Query<"/v1/audit", "get"> = {}): Promise<Schemas["AuditPageResponse"]> =>
      (await this.http.GET("/v1/audit", { params: { query } })).data!,
    verify: async (): Promise<Schemas["AuditReportResponse"]> =>
      (await this.http.GET("/v1/audit/verification")).data!,
  };

  /** Who the agent is: its profile, and the traits that people have let in. */
  readonly persona = {
    get: async (): Promise<Schemas["PersonaResponse"]> => (await this.http.GET("/v1/persona")).data!,
    /** The persona as a block of data for a model's input. */
    prompt: async (query: Query<"/v1/persona/prompt", "get"> = {}): Promise<string> =>
      (await this.http.GET("/v1/persona/prompt", { params: { query } })).data!.text,
    /** Propose a trait; it waits for a person. */
    learn: async (trait: Partial<Schemas["NewTrait"]> & { trait: string }): Promise<Receipt> =>
      (await this.http.POST("/v1/persona/traits", { body: trait as Schemas["NewTrait"] })).data!,
    history: async (memoryId: string): Promise<Memory[]> =>
      (await this.http.GET("/v1/persona/traits/{memory_id}/history", at(memoryId))).data!.versions,
  };

  private async approved(memoryId: string, body: Partial<Schemas["Approval"]>): Promise<Receipt> {
    const { data } = await this.http.POST("/v1/reviews/{memory_id}/approval", {
      ...at(memoryId),
      body: body as Schemas["Approval"],
    });
    return data!;
  }

  /** Correct a memory. With `expectedVersion` only if nobody else did meanwhile. */
  async update(memoryId: string, said: string | Correction, expectedVersion?: number): Promise<Receipt> {
    const body = typeof said === "string" ? { content: said } : said;
    const { data } = await this.http.PATCH("/v1/memories/{memory_id}", {
      params: {
        path: { memory_id: memoryId },
        header: expectedVersion === undefined ? {} : { "If-Match": `"${expectedVersion}"` },
      },
      body: body as Schemas["Correction"],
    });
    return data!;
  }

  /** Delete a memory with all its versions. */
  async forget(memoryId: string): Promise<void> {
    await this.http.DELETE("/v1/memories/{memory_id}", { params: { path: { memory_id: memoryId } } });
  }

  /** Delete the memories that meet a filter, the newest `limit` of them; `dry_run` only says which. */
  async forgetMatching(wanted: Forget): Promise<Schemas["ForgottenResponse"]> {
    return (await this.http.POST("/v1/memories/forget", { body: wanted as Schemas["ForgetRequest"] })).data!;
  }

  /** A block of memories for one model call, as data. */
  async context(query: string, wanted: number | Omit<Wanted, "query"> = {}): Promise<Schemas["ContextResponse"]> {
    const bounds = typeof wanted === "number" ? { max_tokens: wanted } : wanted;
    const { data } = await this.http.POST("/v1/context", { body: { ...bounds, query } as Schemas["ContextRequest"] });
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

function of<Q>(memoryId: string, query: Q): { params: { path: { memory_id: string }; query: Q } } {
  return { params: { path: { memory_id: memoryId }, query } };
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
