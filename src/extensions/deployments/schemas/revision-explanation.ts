import { z } from 'zod';
import { Uuid } from '../../../schemas/fields.ts';
import { BuildStep, RevisionFailure, RevisionStatus } from './deployments.ts';
import { HealthCheck, NextAction, RevisionHealth } from './health.ts';

/** Explanation of a revision's state, or of why it is not deployed yet. */
export const RevisionExplanation = z.object({
  revision_id: Uuid,
  deployment_id: Uuid,
  deployment: z.string().describe('Name of the deployment.'),
  number: z.int(),
  status: RevisionStatus,
  /** Human-readable; the fields say the same. */
  summary: z.string(),
  is_active: z.boolean().describe('Whether it serves new requests.'),
  is_canary: z
    .boolean()
    .describe('Whether it is a canary, which gets a share of new threads and stateless runs.'),
  behind: z.int().describe('Number of revisions ahead of it in the queue, of all deployments.'),
  step: BuildStep.nullable().describe('The last step that was started.'),
  failure: RevisionFailure.nullable(),
  activity: RevisionHealth.nullable().describe('Its current activity; `null` without processes.'),
  check: HealthCheck.nullable().describe('Whether it is healthy; `null` unless it is the active revision.'),
  next_action: NextAction.nullable().describe(
    'What the operator can do next; `null` if there is a newer revision.',
  ),
});
export type RevisionExplanation = z.infer<typeof RevisionExplanation>;
