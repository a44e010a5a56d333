import { z } from 'zod';
import { HealthCheck, NextAction, RevisionHealth } from './deployment-health.ts';
import { BuildStep, RevisionFailure, RevisionStatus } from './deployments.ts';
import { Uuid } from './fields.ts';

/** Explanation of what became of a revision, or why it has not been deployed yet. */
export const RevisionExplanation = z.object({
  revision_id: Uuid,
  deployment_id: Uuid,
  deployment: z.string().describe('Name of the deployment.'),
  number: z.int(),
  status: RevisionStatus,
  /** Human-readable; the fields say the same. */
  summary: z.string(),
  is_active: z.boolean().describe('It serves new requests.'),
  is_canary: z.boolean().describe('It serves its share of new threads and stateless runs.'),
  behind: z.int().describe('Revisions of all deployments that are before it in the queue.'),
  step: BuildStep.nullable().describe('The last step that it began.'),
  failure: RevisionFailure.nullable(),
  activity: RevisionHealth.nullable().describe('What it does at this moment; `null` without processes.'),
  check: HealthCheck.nullable().describe('Whether it is healthy; `null` unless it is the active one.'),
  next_action: NextAction.nullable().describe(
    'What the operator can do next; `null` for a revision that a newer one has followed.',
  ),
});
export type RevisionExplanation = z.infer<typeof RevisionExplanation>;
