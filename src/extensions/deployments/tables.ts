import type { JsonText } from '../../db/json.ts';

/*
 * Generated from the migrations. Do not edit it, but write it anew after a migration:
 * npx vitest run test/storage/tables.test.ts -u
 */

type Uuid = string;
/** ISO-8601, in UTC with milliseconds. */
type Timestamp = string;

declare module '../../db/tables.ts' {
  interface Tables {
    deployment_hooks: {
      hook_id: Uuid;
      deployment_id: Uuid;
      kind: string;
      delivery_id: string | null;
      event: string;
      ref: string | null;
      sha: string | null;
      outcome: string;
      reason: string | null;
      revision_id: Uuid | null;
      received_at: Timestamp;
    };
    deployment_owner: { name: string; token: Uuid };
    deployment_repositories: {
      deployment_id: Uuid;
      hook_secret: string | null;
      hook_secret_at: Timestamp | null;
      deploy_key: string | null;
      public_key: string | null;
      deploy_key_at: Timestamp | null;
      token: string | null;
      token_username: string | null;
      token_host: string | null;
      token_at: Timestamp | null;
      known_hosts: string | null;
      polled_at: Timestamp | null;
      polled_sha: string | null;
      poll_failure: JsonText | null;
    };
    deployment_revisions: {
      revision_id: Uuid;
      deployment_id: Uuid;
      number: number;
      status: string;
      source: string;
      source_revision_config: JsonText;
      triggered_by: string;
      canary_percent: number | null;
      build_id: Uuid | null;
      built: JsonText | null;
      commit_info: JsonText | null;
      failure: JsonText | null;
      build_steps: JsonText;
      tries: number;
      created_at: Timestamp;
      updated_at: Timestamp;
    };
    deployment_secrets: { deployment_id: Uuid; name: string; value: string };
    deployments: {
      deployment_id: Uuid;
      name: string;
      source: string;
      source_config: JsonText;
      source_revision_config: JsonText;
      created_at: Timestamp;
      updated_at: Timestamp;
      latest_revision_id: Uuid | null;
      active_revision_id: Uuid | null;
      canary_revision_id: Uuid | null;
    };
  }
}
