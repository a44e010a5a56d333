import { z } from 'zod';
import * as a2a from '../../schemas/a2a.ts';
import * as assistants from '../../schemas/assistants.ts';
import { Command, Send } from '../../schemas/command.ts';
import { CronExplanation } from '../../schemas/cron-explanation.ts';
import * as crons from '../../schemas/crons.ts';
import { DeliveryExplanation } from '../../schemas/delivery-explanation.ts';
import * as streaming from '../../schemas/event-streaming.ts';
import { ErrorResponse } from '../../schemas/fields.ts';
import { InterruptFilter, InterruptSearch, PendingInterrupt } from '../../schemas/interrupts.ts';
import { Key, KeyCreate, KeyCreated } from '../../schemas/keys.ts';
import * as mcp from '../../schemas/mcp.ts';
import { RunExplanation } from '../../schemas/run-explanation.ts';
import { RunFilter, RunSearch, RunSummary } from '../../schemas/run-search.ts';
import * as runs from '../../schemas/runs.ts';
import * as store from '../../schemas/store.ts';
import { StreamMode } from '../../schemas/stream-mode.ts';
import { StudioSession, StudioSessionCreate } from '../../schemas/studio.ts';
import * as system from '../../schemas/system.ts';
import { ThreadExplanation } from '../../schemas/thread-explanation.ts';
import * as state from '../../schemas/thread-state.ts';
import { CheckpointNode } from '../../schemas/thread-tree.ts';
import * as threads from '../../schemas/threads.ts';
import { Token, TokenCreate } from '../../schemas/tokens.ts';
import { UiComponent } from '../../schemas/ui.ts';
import * as webhooks from '../../schemas/webhooks.ts';

/** Request schemas, named as in the official document. Fields with a default are optional. */
export const REQUESTS: Record<string, z.ZodType> = {
  AssistantCreate: assistants.AssistantCreate,
  AssistantPatch: assistants.AssistantPatch,
  AssistantSearchRequest: assistants.AssistantSearch,
  AssistantCountRequest: assistants.AssistantFilter,
  AssistantVersionsSearchRequest: assistants.AssistantVersionsSearch,
  AssistantVersionChange: assistants.AssistantLatest,
  Config: assistants.Config,
  ThreadCreate: threads.ThreadCreate,
  ThreadPatch: threads.ThreadPatch,
  ThreadSearchRequest: threads.ThreadSearch,
  ThreadCountRequest: threads.ThreadFilter,
  ThreadPruneRequest: threads.ThreadPrune,
  ThreadStateCheckpointRequest: state.ThreadStateAtCheckpoint,
  ThreadStateUpdate: state.ThreadStateUpdate,
  ThreadStatePatch: state.ThreadStatePatch,
  ThreadSuperstepUpdate: threads.ThreadSuperstepUpdate,
  ThreadStateSearch: state.ThreadHistory,
  CheckpointConfig: state.CheckpointConfig,
  RunCreate: runs.RunCreate,
  RunBatchCreate: runs.RunBatchCreate,
  RunsCancel: runs.RunsCancel,
  RunSearchRequest: RunSearch,
  RunCountRequest: RunFilter,
  InterruptSearchRequest: InterruptSearch,
  InterruptCountRequest: InterruptFilter,
  CronCreate: crons.CronCreate,
  ThreadCronCreate: crons.ThreadCronCreate,
  CronPatch: crons.CronPatch,
  CronSearch: crons.CronSearch,
  CronCountRequest: crons.CronCount,
  WebhookTest: webhooks.WebhookTest,
  Command,
  Send,
  StreamMode,
  StorePutRequest: store.StorePut,
  StoreDeleteRequest: store.StoreDelete,
  StoreSearchRequest: store.StoreSearch,
  StoreListNamespacesRequest: store.StoreNamespaceQuery,
  ProtocolCommand: streaming.ProtocolCommand,
  ProtocolEventStreamRequest: streaming.EventStreamRequest,
  TokenCreate,
  KeyCreate,
  StudioSessionCreate,
  UiComponent,
  A2aMessage: a2a.A2aMessage,
  McpMessage: mcp.McpMessage,
};

/** Response schemas. */
export const RESPONSES: Record<string, z.ZodType> = {
  Token,
  Key,
  KeyCreated,
  StudioSession,
  A2aAnswer: a2a.A2aAnswer,
  A2aCard: a2a.A2aCard,
  McpAnswer: mcp.McpAnswer,
  Assistant: assistants.Assistant,
  AssistantVersion: assistants.AssistantVersion,
  GraphDrawing: assistants.GraphDrawing,
  GraphSchema: assistants.GraphSchema,
  GraphSchemaNoId: assistants.GraphSchemaNoId,
  Subgraphs: assistants.Subgraphs,
  Thread: threads.Thread,
  ThreadPruneResponse: threads.ThreadsPruned,
  ThreadStorage: threads.ThreadStorage,
  Interrupt: threads.Interrupt,
  RunError: threads.RunError,
  ThreadState: state.ThreadState,
  ThreadTask: state.ThreadTask,
  ThreadStateUpdateResponse: state.ThreadStateUpdated,
  Run: runs.Run,
  RunSummary,
  PendingInterrupt,
  CheckpointNode,
  RunExplanation,
  ThreadExplanation,
  CronExplanation,
  DeliveryExplanation,
  Cron: crons.Cron,
  CronRun: crons.CronRun,
  Item: store.StoreItem,
  SearchItem: store.StoreMatch,
  SearchItemsResponse: store.StoreMatches,
  ListNamespaceResponse: store.StoreNamespaces,
  Delivery: webhooks.Delivery,
  DeliveryAttempt: webhooks.DeliveryAttempt,
  DeliveryDetail: webhooks.DeliveryDetail,
  DeliveryRequest: webhooks.DeliveryRequest,
  Health: system.Health,
  ServerInfo: system.ServerInfo,
  Metrics: system.Metrics,
  SystemOverview: system.SystemOverview,
  Lease: system.LeaseView,
  ProtocolSuccess: streaming.ProtocolSuccess,
  ProtocolError: streaming.ProtocolError,
  ProtocolResponseMeta: streaming.ProtocolResponseMeta,
  ErrorResponse,
};

/** Schema → component name, so that each schema is defined once and referenced elsewhere. */
export const NAMES = z.registry<{ id: string }>();
for (const [id, schema] of Object.entries({ ...REQUESTS, ...RESPONSES })) NAMES.add(schema, { id });
