import { z } from 'zod';
import { Name, Names, Text } from '../../../schemas/bounds.ts';
import { queryInt, Timestamp, TimestampText, Uuid } from '../../../schemas/fields.ts';
import { boundedInt } from '../../../schemas/numbers.ts';

export const DEPLOYMENT_NAME = /^[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?$/;

/**
 * Where the code of a deployment comes from. `*_docker` is rejected, because the server does not build images.
 */
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

const Setting = z.string().max(4096);
const Command = Setting.nullish().describe('A command, executed by the shell of the build.');

/**
 * Settings of all revisions. Settings of the cloud service, such as `integration_id`, are stored without
 * effect.
 */
export const SourceConfig = z.looseObject({
  repo_url: Setting.nullish().describe('URL of a git repository, without credentials.'),
  deployment_type: Setting.nullish(),
  build_on_push: z
    .boolean()
    .nullish()
    .describe('Whether pushes to the branch, reported by a hook or found by polling, are deployed.'),
  pin: z
    .enum(['latest', 'thread'])
    .nullish()
    .describe(
      'Whether a thread moves to the newest revision (`latest`, the default) or stays with the revision of its first run while its build is kept (`thread`).',
    ),
  custom_url: Setting.nullish().describe('URL at which the deployment is served; set by the server.'),
  install_command: Command,
  build_command: Command,
});
export type SourceConfig = z.infer<typeof SourceConfig>;

/** What one revision is built from. */
export const SourceRevisionConfig = z.looseObject({
  repo_ref: Setting.nullish().describe('A branch, or a tag as `refs/tags/…`.'),
  langgraph_config_path: Setting.nullish().describe('Path of the configuration in the sources.'),
  image_uri: Setting.nullish(),
  source_tarball_path: Setting.nullish().describe('The `object_path` of an upload.'),
  repo_commit_sha: Setting.nullish().describe('The commit that was built.'),
});
export type SourceRevisionConfig = z.infer<typeof SourceRevisionConfig>;

/** Maximum number of secrets of a deployment. */
const MAX_SECRETS = 500;
const MAX_SECRET_LENGTH = 128 * 1024;

export const DeploymentSecret = z.object({
  name: z
    .string()
    .max(256)
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/, 'must be the name of a variable'),
  value: z
    .string()
    .max(MAX_SECRET_LENGTH)
    .describe('Returned as `********`; send that to keep the stored value.'),
});
export type DeploymentSecret = z.infer<typeof DeploymentSecret>;
const Secrets = z
  .array(DeploymentSecret)
  .max(MAX_SECRETS)
  .describe('Environment variables of the graphs only; builds do not see them.');

export const DeploymentCreate = z.looseObject({
  name: z
    .string()
    .max(63)
    .regex(
      DEPLOYMENT_NAME,
      'must be 1 to 63 of the characters a-z, 0-9, - and _, and begin and end with a letter or digit',
    )
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
    'Percentage of new threads and stateless runs that the revision gets; the active revision gets the rest.',
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
  canary_revision_id: Uuid.nullable().describe(
    'The revision that gets a share of new threads and stateless runs.',
  ),
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
  hint: z.string().describe('What is wrong and what to do, as a sentence.'),
});
export type RevisionFailure = z.infer<typeof RevisionFailure>;

export const RevisionCommit = z.object({
  sha: z.string(),
  author: z.string().nullable(),
  message: z.string().nullable(),
  time: z.string().nullable(),
});
export type RevisionCommit = z.infer<typeof RevisionCommit>;

export const BuildIsolation = z.object({
  filesystem: z
    .enum(['bwrap', 'user', 'none'])
    .describe(
      '`bwrap`: the build saw its own files and programs only. `user`: it ran as a user of its own. `none`: it ran with the permissions of the server.',
    ),
  network: z
    .enum(['proxy', 'shared'])
    .describe(
      '`proxy`: the build reached public addresses only. `shared`: it had the network of the server.',
    ),
});
export type BuildIsolation = z.infer<typeof BuildIsolation>;

/** Where a build put its result, relative to the folder of the build. */
export interface BuiltFolder {
  /** Folder of the configuration file. */
  readonly root: string;
  readonly config_file: string;
  /** How the build was isolated from the rest of the machine, as a sentence. */
  readonly isolation: string;
  /** The same for programs; absent for builds of older servers. */
  readonly isolated?: BuildIsolation;
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
  isolation: BuildIsolation.nullable().describe(
    'How its build was isolated from the server; null before it is built and when its build is not kept.',
  ),
  is_built: z.boolean().describe('Whether its build is kept, so that deploying it again needs no new build.'),
  is_active: z.boolean().describe('Whether it serves new requests.'),
  is_canary: z
    .boolean()
    .describe('Whether it is a canary, which gets a share of new threads and stateless runs.'),
  canary_percent: z.int().nullable().describe('The percentage that it was deployed with as a canary.'),
});
export type Revision = z.infer<typeof Revision>;

/** One id, or several. */
const DeploymentIdList = z.union([Text, Names]);

const offset = queryInt({ min: 0, max: 1_000_000 }).default(0);
const limit = queryInt({ min: 1, max: 100 }).default(20);

export const DeploymentQuery = z.looseObject({
  limit,
  offset,
  name: Name.optional(),
  name_contains: Name.optional(),
  status: DeploymentStatus.optional(),
  deployment_type: Name.optional(),
  deployment_ids: DeploymentIdList.optional(),
});
export type DeploymentQuery = z.infer<typeof DeploymentQuery>;

export const RevisionQuery = z.looseObject({
  limit,
  offset,
  status: Name.optional().describe('One or more statuses, separated by commas.'),
});
export type RevisionQuery = z.infer<typeof RevisionQuery>;

export const DeploymentIds = z.looseObject({ deployment_ids: DeploymentIdList });

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
    .union([Name, z.int().min(0)])
    .nullish()
    .describe('The `next_offset` of the previous page.'),
  level: z.enum(LOG_LEVELS).nullish().describe('Only lines of this level.'),
  query: z.string().max(1000).nullish().describe('Only lines whose message contains this text.'),
  start_time: TimestampText.nullish(),
  end_time: TimestampText.nullish(),
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
