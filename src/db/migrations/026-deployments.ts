/**
 * `deployment_revisions.build_id`: the revision whose build this one serves; null before it is built, and when its build
 * is no longer kept. `tries`: how often a server that ended has left it unfinished.
 */
export const deployments = `
create table deployments (
  deployment_id {uuid} primary key,
  name text not null unique,
  source text not null,
  source_config {jsonb} not null,
  source_revision_config {jsonb} not null,
  created_at {timestamp} not null,
  updated_at {timestamp} not null,
  latest_revision_id {uuid},
  active_revision_id {uuid}
){strict};

create table deployment_revisions (
  revision_id {uuid} primary key,
  deployment_id {uuid} not null references deployments (deployment_id) on delete cascade,
  number integer not null,
  status text not null,
  source text not null,
  source_revision_config {jsonb} not null,
  triggered_by text not null,
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
