import { z } from 'zod';
import { CurrentStep, RECORD_LEVELS } from '../../schemas/steps.ts';
import { Busy, CHECKPOINT_SERVER_METHODS, Durability, Steps } from './checkpoint-messages.ts';
import { WireErrorSchema } from './errors.ts';
import { FirstSearch } from './first-search.ts';
import { LOAD_METHODS } from './load-messages.ts';
import { LOG_SERVER_METHODS } from './log-messages.ts';
import { PROJECT_METHODS, PROJECT_PARAMS, ProjectErrors } from './project-messages.ts';
import { RunEvents } from './run-events.ts';
import { Bytes, Json, JsonResult, Session } from './wire-types.ts';

/** Version of the protocol. A host of another version is refused. */
export const PROTOCOL_VERSION = 1;

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
  /** What is recorded of the run. */
  record: z.enum(RECORD_LEVELS).default('off'),
  /** Whether its calls are recorded with what they were given and returned, for traces. */
  has_contents: z.boolean().optional(),
});

const LoadedGraph = z.object({
  graph_id: z.string(),
  /** Why it failed to load, with its cause; every host reports it, and the server logs it once. */
  error: WireErrorSchema.optional(),
  file: z.string().optional(),
  /** Compiled-in memory that the server replaces. */
  overridden: z.array(z.enum(['checkpointer', 'store'])),
});

/** How the host reaches the server over HTTP, and the server the project's app; paths of Unix sockets (see http.ts). */
const HttpAccess = z.object({
  /** Shows that a request comes from the server, or from one of its hosts. */
  token: z.string(),
  server_socket: z.string(),
  /** Begins every path of the server, such as `/agents`. */
  mount_prefix: z.string(),
  /** The project's app, as `path:export`; absent without one. */
  app: z.string().optional(),
  /** Where the host listens for requests for the app. */
  app_socket: z.string(),
});

/** The project's app, if it has one: what it is, or why it failed to load. */
const LoadedApp = z.union([
  z.object({
    kind: z.enum(['fetch', 'handle']),
    routes: z.array(z.object({ method: z.string(), path: z.string() })),
  }),
  z.object({ error: WireErrorSchema }),
]);

const StateUse = {
  session: Session,
  graph: GraphUse,
  writer: Writer,
  config: Json,
  first: FirstSearch.optional(),
};
/** Fields of a state; all by default. */
const Select = z.array(z.string()).optional();

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
      ...PROJECT_PARAMS,
      http: HttpAccess,
    }),
    result: z.object({
      version: z.number().int(),
      langgraph_version: z.string().nullable(),
      /** What may surprise about the project's installation; every host reports it, and the server logs it once. */
      warnings: z.array(z.string()),
      graphs: z.array(LoadedGraph),
      project_errors: ProjectErrors,
      app: LoadedApp.optional(),
    }),
  },
  /** Answered at once: a late answer means that the host is blocked. */
  'run/start': {
    params: z.object({
      session: Session,
      graph_id: z.string(),
      call: Json,
      writer: Writer,
      first: FirstSearch.optional(),
    }),
    result: z.object({}),
  },
  'run/cancel': { params: z.object({ session: Session, reason: WireErrorSchema }) },
  /** The run is to stop at its next checkpoint: another host continues from there. */
  'run/hand_over': { params: z.object({ session: Session }) },
  /** The steps of a run that no message has brought yet. */
  'run/steps': { params: z.object({ session: Session }), result: z.object({ steps: z.array(CurrentStep) }) },
  /** It stops before its next superstep. */
  'run/drain': { params: z.object({ session: Session }) },
  'run/credit': { params: z.object({ session: Session, bytes: z.number().int().positive() }) },
  ...LOAD_METHODS,
  /** What must be done before the host ends, within `ms`. */
  drain: { params: z.object({ ms: z.number() }), result: z.object({}) },
  /** `json` is for a client, in UTF-8; absent if the checkpoint does not exist. */
  'state/get': {
    params: z.object({ ...StateUse, subgraphs: z.boolean(), select: Select }),
    result: z.object({ json: Bytes.optional() }),
  },
  'state/history': {
    params: z.object({
      ...StateUse,
      limit: z.number(),
      before: Json.optional(),
      metadata: Json.optional(),
      select: Select,
    }),
    result: z.object({ json: Bytes }),
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
  'graph/nodes': { params: z.object({ graph: GraphUse, source: z.boolean() }), result: JsonResult },
  'graph/schemas': { params: z.object({ graph: GraphUse }), result: JsonResult },
  'graph/subgraphs': {
    params: z.object({ graph: GraphUse, namespace: z.string().optional(), recurse: z.boolean() }),
    result: JsonResult,
  },
  ...PROJECT_METHODS,
} as const;

const Namespace = z.array(z.string());
const StoreResult = JsonResult;

/** Methods of the server, called by a host. */
export const SERVER_METHODS = {
  'run/events': {
    params: z.object({
      session: Session,
      busy: Busy,
      /** All events before a checkpoint cover it. */
      events: RunEvents,
    }),
  },
  'run/end': {
    params: z.object({
      session: Session,
      error: WireErrorSchema.optional(),
      state: Json.optional(),
      steps: Steps,
      /** It stopped at a checkpoint because it was to be handed over. */
      handed_over: z.boolean().optional(),
    }),
  },
  'store/apply': { params: z.object({ session: Session, changes: Json }), result: z.object({}) },
  'store/get': { params: z.object({ namespace: Namespace, key: z.string() }), result: StoreResult },
  'store/search': { params: z.object({ query: Json }), result: StoreResult },
  'store/namespaces': { params: z.object({ query: Json }), result: StoreResult },
  ...CHECKPOINT_SERVER_METHODS,
  ...LOG_SERVER_METHODS,
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
