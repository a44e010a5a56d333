import { z } from 'zod';
import { Timestamp, Uuid } from './fields.ts';
import { HostView } from './system.ts';

/** A revision that executes or answers something at this moment. */
export const RevisionHealth = z.object({
  revision_id: Uuid,
  number: z.int(),
  state: z
    .enum(['starting', 'serving', 'draining'])
    .describe('`draining`: another one serves; it only finishes what it began.'),
  since: Timestamp.describe('When it came to this state.'),
  runs: z.int().describe('Runs that it executes.'),
  requests: z.int().describe('Requests, streams and WebSockets that it has open.'),
  hosts: z.array(HostView).describe('Its processes.'),
});
export type RevisionHealth = z.infer<typeof RevisionHealth>;

export const HealthCheck = z.object({
  ok: z.boolean(),
  at: Timestamp,
  reason: z.string().nullable().describe('Why it is not healthy, in a sentence.'),
});
export type HealthCheck = z.infer<typeof HealthCheck>;

export const NextAction = z.object({
  text: z.string(),
  command: z.string().nullable().describe('A command line that does it.'),
});
export type NextAction = z.infer<typeof NextAction>;

/** What a deployment does at this moment. */
export const DeploymentHealth = z.object({
  active_revision: z
    .object({ revision_id: Uuid, number: z.int(), since: Timestamp })
    .nullable()
    .describe('What serves new requests, and since when, also over restarts of the server.'),
  check: HealthCheck.nullable().describe(
    'Whether what serves can execute runs and reaches its database, checked for this answer; `null`: nothing was deployed yet.',
  ),
  queue: z
    .object({ pending: z.int(), running: z.int() })
    .nullable()
    .describe('Runs of the deployment; `null` while it is not served.'),
  revisions: z
    .array(RevisionHealth)
    .describe('Those that have processes or open requests, the newest first.'),
  next_action: NextAction.describe('What its operator can do next.'),
});
export type DeploymentHealth = z.infer<typeof DeploymentHealth>;
