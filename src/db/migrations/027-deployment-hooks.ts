/**
 * `deployment_repositories`: how the server reaches the repository of a deployment and hears of pushes. `token_host`: the
 * only host that is given the token. `polled_sha`: the commit of the branch when it was asked last.
 */
export const deploymentHooks = `
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
