import { z } from 'zod';
import { WireErrorSchema } from './errors.ts';

/** Version of the protocol. A host of another version is refused. */
export const PROTOCOL_VERSION = 1;

/** JSON text. Data of users travels as text, so that every number and key arrives as it was. */
const Json = z.string();
const Bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array);
/** Number of an open session: one run attempt, or one request about a state. Chosen by the server. */
const Session = z.number().int().positive();
const Durability = z.enum(['sync', 'async']);

const Access = z.enum(['threads.create_run', 'threads.read', 'threads.update', 'assistants.read']);

/** A graph, and for what: a factory makes one for each use. */
const GraphUse = z.object({ graph_id: z.string(), access: Access, config: Json, context: Json });

/** Identity of a session's checkpointer. */
const Writer = z.object({
  thread_id: z.string(),
  run_id: z.string().nullable(),
  durability: Durability,
  writer: z.string(),
  is_attempt: z.boolean(),
});

const LoadedGraph = z.object({
  graph_id: z.string(),
  /** Why it failed to load, with its cause; every host says so, and the server logs it once. */
  error: WireErrorSchema.optional(),
  file: z.string().optional(),
  /** Compiled-in memory that the server replaces. */
  overridden: z.array(z.enum(['checkpointer', 'store'])),
});

const StateUse = { session: Session, graph: GraphUse, writer: Writer, config: Json };
const JsonResult = z.object({ json: Json });

const Write = z.object({
  task_id: z.string(),
  idx: z.number().int(),
  channel: z.string(),
  type: z.string(),
  value: Bytes,
  damage: z.string().optional(),
});

/** A channel's value at a version, whole. `appends` and `keyframe` are what its next version may be a delta to. */
const ChannelValue = z.object({
  channel: z.string(),
  version: z.string(),
  type: z.string(),
  bytes: Bytes,
  appends: z.number().int(),
  keyframe: z.object({ version: z.string(), bytes: z.number().int() }),
  damage: z.string().optional(),
});

const CheckpointKey = { thread_id: z.string(), ns: z.string(), checkpoint_id: z.string() };

const StoredCheckpoint = z.object({
  ...CheckpointKey,
  parent_id: z.string().nullable(),
  checkpoint: Json,
  versions: Json,
  metadata: Json,
  damage: z.string().optional(),
  writes: z.array(Write),
  values: z.array(ChannelValue),
});

/** A page: with `has_more`, the next one continues after its last checkpoint. */
const CheckpointPage = z.object({ checkpoints: z.array(StoredCheckpoint), has_more: z.boolean() });

/** Methods of a host, called by the server. Those without a result are notifications. */
export const HOST_METHODS = {
  initialize: {
    params: z.object({
      version: z.number().int(),
      /** Folder of the configuration. */
      root: z.string(),
      graphs: z.array(
        z.object({
          graph_id: z.string(),
          path: z.string(),
          export: z.string(),
          description: z.string().nullish(),
        }),
      ),
      /** Cache folder of the schemas that are read from types; absent: they are not read. */
      schema_cache: z.string().optional(),
    }),
    result: z.object({
      version: z.number().int(),
      langgraph_version: z.string().nullable(),
      graphs: z.array(LoadedGraph),
    }),
  },
  /** Answered at once: an answer that is late says that the host is blocked. */
  'run/start': {
    params: z.object({
      session: Session,
      graph_id: z.string(),
      call: Json,
      writer: Writer,
      /** What the first search for the thread's latest checkpoint finds: LangGraph begins with it. */
      latest: CheckpointPage.optional(),
    }),
    result: z.object({}),
  },
  'run/cancel': { params: z.object({ session: Session, reason: WireErrorSchema }) },
  /** The run is to stop at its next checkpoint: another host goes on from there. */
  'run/hand_over': { params: z.object({ session: Session }) },
  'run/credit': { params: z.object({ session: Session, bytes: z.number().int().positive() }) },
  /** What must be done before the host ends, within `ms`. */
  drain: { params: z.object({ ms: z.number() }), result: z.object({}) },
  'state/get': { params: z.object({ ...StateUse, subgraphs: z.boolean() }), result: JsonResult },
  'state/history': {
    params: z.object({ ...StateUse, limit: z.number(), before: Json.optional(), metadata: Json.optional() }),
    result: JsonResult,
  },
  'state/update': {
    params: z.object({ ...StateUse, values: Json, as_node: z.string().optional() }),
    result: JsonResult,
  },
  'state/bulk_update': { params: z.object({ ...StateUse, supersteps: Json }), result: z.object({}) },
  'graph/draw': {
    params: z.object({ graph: GraphUse, xray: z.union([z.boolean(), z.number()]) }),
    result: JsonResult,
  },
  'graph/schemas': { params: z.object({ graph: GraphUse }), result: JsonResult },
  'graph/subgraphs': {
    params: z.object({ graph: GraphUse, namespace: z.string().optional(), recurse: z.boolean() }),
    result: JsonResult,
  },
} as const;

/** A new value: whole (`base_version` null), or as the elements appended to the list of `base_version`. */
const Blob = z.object({
  channel: z.string(),
  version: z.string(),
  base_version: z.string().nullable(),
  appends: z.number().int(),
  type: z.string(),
  value: Bytes,
});

const Stored = z.object({ stored: z.boolean() });
const Namespace = z.array(z.string());
const StoreResult = JsonResult;

/** Methods of the server, called by a host. */
export const SERVER_METHODS = {
  'run/events': {
    params: z.object({
      session: Session,
      /** In order: an event with its JSON, or a checkpoint that all events before it cover. */
      events: z.array(
        z.union([z.object({ event: z.string(), json: Json }), z.object({ checkpoint_id: z.string() })]),
      ),
    }),
  },
  'run/end': {
    params: z.object({
      session: Session,
      error: WireErrorSchema.optional(),
      state: Json.optional(),
      /** It stopped at a checkpoint because it was to be handed over. */
      handed_over: z.boolean().optional(),
    }),
  },
  'checkpoint/find': {
    params: z.object({
      session: Session,
      thread_id: z.string().optional(),
      ns: z.string().optional(),
      checkpoint_id: z.string().optional(),
      before_id: z.string().optional(),
      metadata: Json.optional(),
      limit: z.number().int().optional(),
    }),
    result: CheckpointPage,
  },
  'checkpoint/ancestors': {
    params: z.object({
      session: Session,
      ...CheckpointKey,
      channels: z.array(z.string()),
      limit: z.number().int(),
    }),
    result: CheckpointPage,
  },
  /** A notification with durability `async`: a failure cancels the run. */
  'checkpoint/put': {
    params: z.object({
      session: Session,
      durability: Durability,
      checkpoint: z.object({
        ...CheckpointKey,
        parent_id: z.string().nullable(),
        run_id: z.string().nullable(),
        checkpoint: Json,
        versions: Json,
        metadata: Json,
        blobs: z.array(Blob),
      }),
    }),
    result: Stored,
  },
  /** Likewise. */
  'checkpoint/put_writes': {
    params: z.object({
      session: Session,
      durability: Durability,
      ...CheckpointKey,
      run_id: z.string().nullable(),
      task_id: z.string(),
      writes: z.array(Write.omit({ task_id: true })),
    }),
    result: Stored,
  },
  'checkpoint/delete_thread': {
    params: z.object({ session: Session, thread_id: z.string() }),
    result: Stored,
  },
  'store/apply': { params: z.object({ changes: Json }), result: z.object({}) },
  'store/get': { params: z.object({ namespace: Namespace, key: z.string() }), result: StoreResult },
  'store/search': { params: z.object({ query: Json }), result: StoreResult },
  'store/namespaces': { params: z.object({ query: Json }), result: StoreResult },
  log: {
    params: z.object({
      level: z.enum(['debug', 'info', 'warn', 'error']),
      message: z.string(),
      /** JSON object. */
      fields: Json,
      /** Fields that hold an error. */
      errors: z.record(z.string(), WireErrorSchema),
    }),
  },
} as const;

export type HostMethods = typeof HOST_METHODS;
export type ServerMethods = typeof SERVER_METHODS;

/** A table of methods. */
export type Methods = Readonly<Record<string, { params: z.ZodType; result?: z.ZodType }>>;
export type Params<M extends Methods, Name extends keyof M> = z.infer<M[Name]['params']>;
export type Result<M extends Methods, Name extends keyof M> = M[Name]['result'] extends z.ZodType
  ? z.infer<M[Name]['result']>
  : // biome-ignore lint/suspicious/noConfusingVoidType: the type of what a handler of a notification returns
    void;
