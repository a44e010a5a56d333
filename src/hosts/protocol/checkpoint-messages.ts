import { z } from 'zod';
import { RecordedStep } from '../../schemas/steps.ts';
import { Bytes, Json, Session } from './wire-types.ts';

export const Durability = z.enum(['sync', 'async']);

const Write = z.object({
  task_id: z.string(),
  task_path: z.string(),
  idx: z.number().int(),
  channel: z.string(),
  type: z.string(),
  value: Bytes,
  damage: z.string().optional(),
});

/**
 * A channel's value at a version. Without `bytes` it is what a checkpoint before it on the page has in the channel: the
 * same version, or, with `begins`, the list that has the first bytes of that one, so many, and a closing bracket.
 * `appends` and `keyframe` are what its next version may be a delta to.
 */
const ChannelValue = z.object({
  channel: z.string(),
  version: z.string(),
  type: z.string(),
  bytes: Bytes.optional(),
  begins: z.number().int().positive().optional(),
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
export const CheckpointPage = z.object({ checkpoints: z.array(StoredCheckpoint), has_more: z.boolean() });

/** A new value: whole (`base_version` null), or as the elements appended to the list of `base_version`. */
const Blob = z.object({
  channel: z.string(),
  version: z.string(),
  base_version: z.string().nullable(),
  appends: z.number().int(),
  type: z.string(),
  value: Bytes,
});

/** Steps of the run that ended since the last ones: stored with the message that brings them. */
export const Steps = z.array(RecordedStep).optional();
/** Graphs that compute keep the event loop of the host busy: commits without a waiting reader may wait a little longer. */
export const Busy = z.literal(true).optional();

const Stored = z.object({ stored: z.boolean() });

/** Methods of the server with which the sessions of a host read and write checkpoints. */
export const CHECKPOINT_SERVER_METHODS = {
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
      steps: Steps,
      busy: Busy,
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
      steps: Steps,
      busy: Busy,
      ...CheckpointKey,
      run_id: z.string().nullable(),
      task_id: z.string(),
      task_path: z.string(),
      writes: z.array(Write.omit({ task_id: true, task_path: true })),
    }),
    result: Stored,
  },
  'checkpoint/delete_thread': {
    params: z.object({ session: Session, thread_id: z.string() }),
    result: Stored,
  },
} as const;
