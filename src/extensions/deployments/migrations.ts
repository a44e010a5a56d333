/**
 * `canary_revision_id`: takes a share of new threads and runs, next to the active revision; `canary_percent`: the share that
 * it was deployed with. `build_id`: the revision whose build this one serves; null before it is built, and when its build
 * is no longer kept. `tries`: how often a server that ended has left it unfinished.
 */
const REVISIONS = `
create table deployments (
  deployment_id {uuid} primary key,
  name text not null unique,
  source text not null,
  source_config {jsonb} not null,
  source_revision_config {jsonb} not null,
  created_at {timestamp} not null,
  updated_at {timestamp} not null,
  latest_revision_id {uuid},
  active_revision_id {uuid},
  canary_revision_id {uuid}
){strict};

create table deployment_revisions (
  revision_id {uuid} primary key,
  deployment_id {uuid} not null references deployments (deployment_id) on delete cascade,
  number integer not null,
  status text not null,
  source text not null,
  source_revision_config {jsonb} not null,
  triggered_by text not null,
  canary_percent integer,
  build_id {uuid},
  built {jsonb},
  commit_info {jsonb},
  failure {jsonb},
  build_steps {jsonb} not null,
  tries integer not null default 0,
  created_at {timestamp} not null,
  updated_at {timestamp} not null,
  unique (deployment_id, number)
){strict};
create index deployment_revisions_open on deployment_revisions (created_at, revision_id)
  where status in ('CREATING', 'QUEUED', 'AWAITING_BUILD', 'BUILDING', 'AWAITING_DEPLOY', 'DEPLOYING');

create table deployment_secrets (
  deployment_id {uuid} not null references deployments (deployment_id) on delete cascade,
  name text not null,
  value text not null,
  primary key (deployment_id, name)
){strict}{without_rowid};
`;

/**
 * `deployment_repositories`: how the server reaches the repository of a deployment and hears of pushes. `token_host`: the
 * only host that is given the token. `polled_sha`: the commit of the branch when it was asked last.
 */
const REPOSITORIES = `
create table deployment_repositories (
  deployment_id {uuid} primary key references deployments (deployment_id) on delete cascade,
  hook_secret text,
  hook_secret_at {timestamp},
  deploy_key text,
  public_key text,
  deploy_key_at {timestamp},
  token text,
  token_username text,
  token_host text,
  token_at {timestamp},
  known_hosts text,
  polled_at {timestamp},
  polled_sha text,
  poll_failure {jsonb}
){strict};

create table deployment_hooks (
  hook_id {uuid} primary key,
  deployment_id {uuid} not null references deployments (deployment_id) on delete cascade,
  kind text not null,
  delivery_id text,
  event text not null,
  ref text,
  sha text,
  outcome text not null,
  reason text,
  revision_id {uuid},
  received_at {timestamp} not null
){strict};
create unique index deployment_hooks_delivery on deployment_hooks (deployment_id, kind, delivery_id);
create index deployment_hooks_received on deployment_hooks (deployment_id, received_at, hook_id);
`;

/** The process that builds and serves the deployments: one row, whose fencing token changes with each owner. */
const OWNER = `
create table deployment_owner (
  name text primary key,
  token {uuid} not null
){strict};
`;

export const base = REVISIONS + REPOSITORIES + OWNER;
