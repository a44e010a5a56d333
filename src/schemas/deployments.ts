import { z } from 'zod';
import { queryInt, Timestamp, Uuid } from './fields.ts';
import { boundedInt } from './numbers.ts';

export const DEPLOYMENT_NAME = /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/;

/** Where the code of a deployment comes from. Images are not built here, so that `*_docker` is refused. */
export const DeploymentSource = z.enum(['github', 'external_docker', 'internal_docker', 'internal_source']);
export type DeploymentSource = z.infer<typeof DeploymentSource>;

export const REVISION_STATUSES = [
  'CREATING',
  'QUEUED',
  'AWAITING_BUILD',
  'BUILDING',
  'AWAITING_DEPLOY',
  'DEPLOYING',
  'CREATE_FAILED',
  'BUILD_FAILED',
  'DEPLOY_FAILED',
  'DEPLOYED',
  'SKIPPED',
  'INTERRUPTED',
  'UNKNOWN',
] as const;
export const RevisionStatus = z.enum(REVISION_STATUSES);
export type RevisionStatus = z.infer<typeof RevisionStatus>;

const DeploymentStatus = z.enum(['AWAITING_DATABASE', 'READY', 'UNUSED', 'AWAITING_DELETE', 'UNKNOWN']);
export type DeploymentStatus = z.infer<typeof DeploymentStatus>;

const Text = z.string().max(4096);
const Command = Text.nullish().describe('A command line, executed by the shell of the build.');

/** Settings of all revisions. Those of the cloud, such as `integration_id`, are kept and have no effect here. */
export const SourceConfig = z.looseObject({
  repo_url: Text.nullish().describe('URL of a git repository, without credentials.'),
  deployment_type: Text.nullish(),
  build_on_push: z
    .boolean()
    .nullish()
    .describe('Whether a push to the branch is deployed, that a hook or polling reports.'),
  pin: z
    .enum(['latest', 'thread'])
    .nullish()
    .describe(
      'Whether a thread goes on with the newest revision (`latest`, the default) or stays with the one of its first run, as long as the build of that is kept (`thread`).',
    ),
  custom_url: Text.nullish().describe('URL at which the deployment is served; set by the server.'),
  install_command: Command,
  build_command: Command,
});
export type SourceConfig = z.infer<typeof SourceConfig>;

/** What one revision is built from. */
export const SourceRevisionConfig = z.looseObject({
  repo_ref: Text.nullish().describe('A branch, or a tag as `refs/tags/…`.'),
  langgraph_config_path: Text.nullish().describe('Path of the configuration in the sources.'),
  image_uri: Text.nullish(),
  source_tarball_path: Text.nullish().describe('The `object_path` of an upload.'),
  repo_commit_sha: Text.nullish().describe('The commit that was built.'),
});
export type SourceRevisionConfig = z.infer<typeof SourceRevisionConfig>;

/** More secrets than that are no environment. */
const MAX_SECRETS = 500;
const MAX_SECRET_LENGTH = 128 * 1024;

export const DeploymentSecret = z.object({
  name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/, 'must be the name of a variable'),
  value: z.string().max(MAX_SECRET_LENGTH).describe('Shown as `********`; sent so, it stays as it is.'),
});
export type DeploymentSecret = z.infer<typeof DeploymentSecret>;
const Secrets = z
  .array(DeploymentSecret)
  .max(MAX_SECRETS)
  .describe('Environment of the graphs, and of nothing else.');

export const DeploymentCreate = z.looseObject({
  name: z
    .string()
    .regex(DEPLOYMENT_NAME, 'must be 1 to 63 characters of a-z, 0-9, - and _')
    .describe('Part of the URL: `/deployments/{name}`.'),
  source: DeploymentSource,
  source_config: SourceConfig.nullish(),
  source_revision_config: SourceRevisionConfig.nullish(),
  secrets: Secrets.nullish(),
});
export type DeploymentCreate = z.infer<typeof DeploymentCreate>;

const CanaryPercent = z
  .int()
  .min(1)
  .max(99)
  .nullish()
  .describe(
    'Share of new threads and stateless runs that the revision takes, beside the one that serves the rest.',
  );

export const DeploymentPatch = z.looseObject({
  revision_source: DeploymentSource.nullish(),
  source_config: SourceConfig.nullish(),
  source_revision_config: SourceRevisionConfig.nullish(),
  secrets: Secrets.nullish(),
  canary_percent: CanaryPercent,
});
export type DeploymentPatch = z.infer<typeof DeploymentPatch>;

export const RevisionCreate = z.looseObject({
  source_revision_config: SourceRevisionConfig.nullish(),
  trigger: z.enum(['manual', 'api']).nullish(),
  canary_percent: CanaryPercent,
});
export type RevisionCreate = z.infer<typeof RevisionCreate>;

export const Deployment = z.object({
  id: Uuid,
  name: z.string(),
  source: DeploymentSource,
  source_config: SourceConfig,
  source_revision_config: SourceRevisionConfig,
  secrets: z.array(DeploymentSecret),
  tenant_id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  status: DeploymentStatus,
  latest_revision_id: Uuid.nullable(),
  active_revision_id: Uuid.nullable(),
  canary_revision_id: Uuid.nullable().describe('The revision that takes a share of what is new.'),
  image_version: z.string().nullable(),
});
export type Deployment = z.infer<typeof Deployment>;

export const BuildStep = z.object({
  name: z.string(),
  status: z.enum(['running', 'done', 'failed', 'interrupted']),
  started_at: Timestamp,
  ended_at: Timestamp.nullable(),
});
export type BuildStep = z.infer<typeof BuildStep>;

export const RevisionFailure = z.object({
  step: z.string(),
  code: z.string(),
  hint: z.string().describe('What is wrong and what to do, in a sentence.'),
});
export type RevisionFailure = z.infer<typeof RevisionFailure>;

export const RevisionCommit = z.object({
  sha: z.string(),
  author: z.string().nullable(),
  message: z.string().nullable(),
  time: z.string().nullable(),
});
export type RevisionCommit = z.infer<typeof RevisionCommit>;

/** Where a build put its result, relative to the folder of the build. */
export interface BuiltFolder {
  /** Folder of the configuration file. */
  readonly root: string;
  readonly config_file: string;
  /** What kept the build from the rest of the machine, in a sentence. */
  readonly isolation: string;
}

export const REVISION_TRIGGERS = ['manual', 'push', 'poll', 'api'] as const;
export type RevisionTrigger = (typeof REVISION_TRIGGERS)[number];

export const Revision = z.object({
  id: Uuid,
  number: z.int().describe('Counts the revisions of the deployment, from 1.'),
  deployment_id: Uuid,
  created_at: Timestamp,
  updated_at: Timestamp,
  status: RevisionStatus,
  source: DeploymentSource,
  source_revision_config: SourceRevisionConfig,
  trigger: z.enum(REVISION_TRIGGERS),
  commit: RevisionCommit.nullable(),
  failure: RevisionFailure.nullable(),
  build_steps: z.array(BuildStep),
  is_built: z.boolean().describe('Its build is kept: deploying it again needs no build.'),
  is_active: z.boolean().describe('It serves new requests.'),
  is_canary: z.boolean().describe('It serves its share of new threads and stateless runs.'),
  canary_percent: z.int().nullable().describe('The share that it was deployed with as a canary.'),
});
export type Revision = z.infer<typeof Revision>;

const offset = queryInt({ min: 0, max: 1_000_000 }).default(0);
const limit = queryInt({ min: 1, max: 100 }).default(20);

export const DeploymentQuery = z.looseObject({
  limit,
  offset,
  name: z.string().optional(),
  name_contains: z.string().optional(),
  status: DeploymentStatus.optional(),
  deployment_type: z.string().optional(),
  deployment_ids: z.union([z.string(), z.array(z.string())]).optional(),
});
export type DeploymentQuery = z.infer<typeof DeploymentQuery>;

export const RevisionQuery = z.looseObject({
  limit,
  offset,
  status: z.string().optional().describe('One or more, separated by commas.'),
});
export type RevisionQuery = z.infer<typeof RevisionQuery>;

export const DeploymentIds = z.looseObject({ deployment_ids: z.union([z.string(), z.array(z.string())]) });

export const DeploymentsList = z.object({ resources: z.array(Deployment), offset: z.int() });
export const RevisionsList = z.object({ resources: z.array(Revision), offset: z.int() });
export type DeploymentsList = z.infer<typeof DeploymentsList>;
export type RevisionsList = z.infer<typeof RevisionsList>;

export const DeploymentsDeleted = z.object({
  deleted: z.array(z.string()),
  failed: z.array(z.object({ id: z.string(), detail: z.string() })),
});
export type DeploymentsDeleted = z.infer<typeof DeploymentsDeleted>;

export const UploadUrl = z.object({
  upload_url: z.string(),
  object_path: z.string(),
  expires_at: Timestamp,
});
export type UploadUrl = z.infer<typeof UploadUrl>;

const LOG_LEVELS = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'] as const;

export const LogSearch = z.looseObject({
  order: z.enum(['asc', 'desc']).default('asc'),
  limit: boundedInt({ min: 1, max: 1000 }).default(50),
  offset: z
    .union([z.string(), z.int().min(0)])
    .nullish()
    .describe('The `next_offset` of the page before.'),
  level: z.enum(LOG_LEVELS).nullish().describe('This level only.'),
  query: z.string().max(1000).nullish().describe('Text that messages contain.'),
  start_time: Timestamp.nullish(),
  end_time: Timestamp.nullish(),
});
export type LogSearch = z.infer<typeof LogSearch>;

const DeploymentLog = z.object({
  id: z.string(),
  timestamp: Timestamp,
  level: z.string(),
  message: z.string(),
});
export type DeploymentLog = z.infer<typeof DeploymentLog>;

export const DeploymentLogs = z.object({
  logs: z.array(DeploymentLog),
  next_offset: z.string().nullable(),
});
export type DeploymentLogs = z.infer<typeof DeploymentLogs>;
