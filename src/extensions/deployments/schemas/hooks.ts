import { z } from 'zod';
import { queryInt, Timestamp, Uuid } from '../../../schemas/fields.ts';
import { RevisionFailure } from './deployments.ts';

/** Supported git services; `generic` is any client that can send a secret. */
export const HOOK_KINDS = ['github', 'gitlab', 'gitea', 'bitbucket', 'generic'] as const;
export const HookKind = z.enum(HOOK_KINDS);
export type HookKind = z.infer<typeof HookKind>;

/** `known`: a revision of this commit already exists. */
export const HookOutcome = z.enum(['queued', 'known', 'ignored']);
export type HookOutcome = z.infer<typeof HookOutcome>;

/** A verified hook and its outcome. */
export const DeploymentHook = z.object({
  id: Uuid,
  kind: HookKind,
  delivery_id: z.string().nullable().describe('Id of the delivery at the git service.'),
  event: z.string(),
  ref: z.string().nullable().describe('The pushed ref, such as `refs/heads/main`.'),
  commit_sha: z.string().nullable(),
  outcome: HookOutcome,
  reason: z.string().nullable().describe('Why nothing was queued, as a sentence.'),
  revision_id: Uuid.nullable(),
  received_at: Timestamp,
});
export type DeploymentHook = z.infer<typeof DeploymentHook>;

const HookUrls = z
  .object(Object.fromEntries(HOOK_KINDS.map((kind) => [kind, z.string()])) as Record<HookKind, z.ZodString>)
  .describe('The URL for the hooks of each service.');
export type HookUrls = z.infer<typeof HookUrls>;

export const DeploymentHookSecret = z.object({
  secret: z.string().describe('Returned only this once.'),
  created_at: Timestamp,
  urls: HookUrls,
});
export type DeploymentHookSecret = z.infer<typeof DeploymentHookSecret>;

export const DeploymentHookQuery = z.looseObject({
  limit: queryInt({ min: 1, max: 100 }).default(20),
  offset: queryInt({ min: 0, max: 1_000_000 }).default(0),
});
export type DeploymentHookQuery = z.infer<typeof DeploymentHookQuery>;

export const DeploymentHooksList = z.object({
  resources: z.array(DeploymentHook),
  offset: z.int(),
  urls: HookUrls,
  secret_created_at: Timestamp.nullable().describe('`null` if there is no secret; hooks are then rejected.'),
  branch: z
    .string()
    .nullable()
    .describe('Full name of the branch whose pushes are deployed; `HEAD` means the default branch.'),
  paused_because: z.string().nullable().describe('Why pushes are not deployed; `null` if they are.'),
  poll: z
    .object({
      every_seconds: z.int(),
      polled_at: Timestamp.nullable(),
      commit_sha: z.string().nullable().describe('The commit of the branch at that time.'),
      failure: RevisionFailure.nullable().describe('Why the repository could not be polled.'),
    })
    .nullable()
    .describe('`null` if polling is off (`deployments.poll_seconds`).'),
});
export type DeploymentHooksList = z.infer<typeof DeploymentHooksList>;
