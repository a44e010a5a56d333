import { z } from 'zod';
import { Timestamp, Uuid } from '../../../schemas/fields.ts';
import { HostView } from '../../../schemas/system.ts';

/** A revision that executes runs or serves requests at the moment. */
export const RevisionHealth = z.object({
  revision_id: Uuid,
  number: z.int(),
  state: z
    .enum(['starting', 'serving', 'draining'])
    .describe('`draining`: another revision serves; this one only finishes its runs and requests.'),
  since: Timestamp.describe('When it entered this state.'),
  runs: z.int().describe('Runs that it is executing.'),
  requests: z.int().describe('Its open requests, streams and WebSockets.'),
  hosts: z.array(HostView).describe('Its processes.'),
});
export type RevisionHealth = z.infer<typeof RevisionHealth>;

export const HealthCheck = z.object({
  ok: z.boolean(),
  at: Timestamp,
  reason: z.string().nullable().describe('Why it is unhealthy, as a sentence.'),
});
export type HealthCheck = z.infer<typeof HealthCheck>;

export const NextAction = z.object({
  text: z.string(),
  command: z.string().nullable().describe('A command that does it.'),
});
export type NextAction = z.infer<typeof NextAction>;

/** Current state of a deployment. */
export const DeploymentHealth = z.object({
  active_revision: z
    .object({ revision_id: Uuid, number: z.int(), since: Timestamp })
    .nullable()
    .describe('The revision that serves new requests, and since when; unaffected by restarts of the server.'),
  check: HealthCheck.nullable().describe(
    'Whether the serving revision can execute runs and reach its database, checked for this response; `null` if nothing has been deployed yet.',
  ),
  queue: z
    .object({ pending: z.int(), running: z.int() })
    .nullable()
    .describe('Runs of the deployment; `null` while it is not served.'),
  revisions: z.array(RevisionHealth).describe('Revisions with processes or open requests, newest first.'),
  next_action: NextAction.describe('What its operator can do next.'),
});
export type DeploymentHealth = z.infer<typeof DeploymentHealth>;
