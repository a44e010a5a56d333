import type { JsonText } from './json.ts';

/*
 * Generated from the migrations. Do not edit it, but write it anew after a migration:
 * npx vitest run test/storage/tables.test.ts -u
 */

type Uuid = string;
/** ISO-8601, in UTC with milliseconds. */
type Timestamp = string;

/** The rows of each table as both engines return them; without the few columns that only one of them has. */
export interface Tables {
  api_keys: {
    key_id: Uuid;
    name: string;
    digest: string;
    scope: string;
    created_at: Timestamp;
    expires_at: Timestamp | null;
    revoked_at: Timestamp | null;
    last_used_at: Timestamp | null;
  };
  assistant_versions: {
    assistant_id: Uuid;
    version: number;
    graph_id: string;
    name: string;
    description: string | null;
    config: JsonText;
    context: JsonText;
    metadata: JsonText;
    created_at: Timestamp;
  };
  assistants: {
    assistant_id: Uuid;
    graph_id: string;
    name: string;
    description: string | null;
    config: JsonText;
    context: JsonText;
    metadata: JsonText;
    version: number;
    created_at: Timestamp;
    updated_at: Timestamp;
  };
  checkpoint_blobs: {
    thread_id: string;
    ns: string;
    channel: string;
    version: string;
    base_version: string | null;
    appends: number;
    type: string;
    value: Uint8Array;
  };
  checkpoint_writes: {
    thread_id: string;
    ns: string;
    checkpoint_id: string;
    task_id: string;
    idx: number;
    channel: string;
    type: string;
    value: Uint8Array;
    run_id: Uuid | null;
    superseded_by: string;
    task_path: string;
  };
  checkpoints: {
    thread_id: string;
    ns: string;
    checkpoint_id: string;
    parent_id: string | null;
    run_id: Uuid | null;
    checkpoint: JsonText;
    versions: JsonText;
    metadata: JsonText;
  };
  cron_fires: {
    seq: number;
    cron_id: Uuid;
    tick: Timestamp | null;
    outcome: 'started' | 'rejected' | 'skipped' | 'failed';
    detail: string | null;
    run_id: Uuid | null;
    thread_id: Uuid | null;
    status: string | null;
    fired_at: Timestamp;
  };
  crons: {
    cron_id: Uuid;
    assistant_id: Uuid;
    thread_id: Uuid | null;
    schedule: string;
    timezone: string | null;
    end_time: string | null;
    ends_at: Timestamp | null;
    next_run_date: Timestamp | null;
    enabled: number;
    disabled_reason: string | null;
    on_run_completed: string | null;
    metadata: JsonText;
    user_id: string;
    made_by_cron: Uuid | null;
    run_as: JsonText | null;
    created_at: Timestamp;
    updated_at: Timestamp;
    payload: JsonText;
  };
  extension_migrations: {
    extension: string;
    version: number;
    name: string;
    applied_at: Timestamp;
    expands: number;
  };
  idempotency_keys: {
    owner: string;
    key: string;
    request: string;
    worker_id: Uuid | null;
    run: JsonText | null;
    answer: JsonText | null;
    claimed_until: Timestamp;
    expires_at: Timestamp;
  };
  interrupt_answers: {
    answer_id: string;
    run_id: Uuid;
    thread_id: Uuid;
    assistant_id: Uuid;
    interrupt_id: string;
    task_id: string;
    since: Timestamp;
    created_at: Timestamp;
    user_id: string | null;
    key_id: string | null;
    value: JsonText | null;
    value_bytes: number;
    answer: JsonText | null;
    answer_bytes: number;
  };
  removed_run_logs: {
    run_id: Uuid;
    seq: number;
    thread_id: Uuid;
    assistant_id: Uuid;
    attempt: number;
    created_at: Timestamp;
    expires_at: Timestamp;
    data: string;
  };
  removed_runs: {
    run_id: Uuid;
    thread_id: Uuid;
    assistant_id: Uuid;
    status: string;
    multitask_strategy: string;
    error: JsonText | null;
    cancel_reason: string | null;
    created_at: Timestamp;
    started_at: Timestamp;
    ended_at: Timestamp;
    calls: number;
    unpriced_calls: number;
    tokens_in: number;
    tokens_cached: number;
    tokens_out: number;
    cost: number;
  };
  revoked_sessions: { session_id: Uuid; expires_at: Timestamp };
  run_attempts: {
    run_id: Uuid;
    attempt: number;
    worker_id: Uuid;
    resumed_from_run_id: Uuid | null;
    started_at: Timestamp;
    ended_at: Timestamp | null;
    status: string;
  };
  run_checkpoints: { run_id: Uuid; checkpoint_id: string; seq: number };
  run_event_expiry: { run_id: Uuid; expires_at: Timestamp };
  run_events: { run_id: Uuid; seq: number; event: string; data: string };
  run_logs: { run_id: Uuid; seq: number; attempt: number; created_at: Timestamp; data: string };
  run_queue: {
    seq: number;
    run_id: Uuid;
    thread_id: Uuid;
    state: 'scheduled' | 'ready' | 'blocked' | 'running';
    not_before: Timestamp;
    priority: number;
    owner: string | null;
    executor_id: Uuid | null;
    attempt: number;
    lease_token: Uuid | null;
    worker_id: Uuid | null;
    cancel_action: string | null;
    retry_reason: string | null;
    failures: number;
    losses: number;
    host_losses: number;
    supersteps: number;
    batches: number;
    owns_thread: number;
  };
  run_steps: {
    run_id: Uuid;
    attempt: number;
    number: number;
    parent: number | null;
    kind: string;
    name: string;
    node: string | null;
    namespace: string;
    task_id: string | null;
    superstep: number | null;
    checkpoint_id: string | null;
    started_at: Timestamp;
    ended_at: Timestamp;
    status: string;
    error: JsonText | null;
    model: string | null;
    provider: string | null;
    tokens_in: number | null;
    tokens_cached: number | null;
    tokens_out: number | null;
    cost: number | null;
    texts: JsonText | null;
    contents: string | null;
  };
  runs: {
    run_id: Uuid;
    thread_id: Uuid;
    assistant_id: Uuid;
    assistant_name: string;
    assistant_version: number;
    status: string;
    metadata: JsonText;
    kwargs: JsonText;
    multitask_strategy: string;
    is_event_streaming: number;
    is_of_cron: number;
    thread_retention: 'keep' | 'keep_interrupted' | 'delete';
    announces_end: number;
    key_id: string | null;
    executor_id: Uuid | null;
    error: JsonText | null;
    cancel_reason: string | null;
    attempt: number;
    created_at: Timestamp;
    updated_at: Timestamp;
    started_at: Timestamp | null;
    ended_at: Timestamp | null;
  };
  schema_migrations: { version: number; name: string; applied_at: Timestamp; expands: number };
  server_secrets: { name: string; secret: string; created_at: Timestamp };
  step_texts: { thread_id: string; number: number; hash: string; data: string };
  store_items: {
    item_id: number;
    namespace: JsonText;
    prefix: string;
    key: string;
    created_at: Timestamp;
    updated_at: Timestamp;
    expires_at: Timestamp | null;
    ttl_minutes: number | null;
    index_rule: JsonText | null;
    indexed_by: string | null;
    value: JsonText;
  };
  store_vectors: { item_id: number; vector: Uint8Array | null };
  thread_deletions: { thread_id: Uuid; deleted_at: Timestamp };
  thread_log: { thread_id: Uuid; base: number; run_id: Uuid; length: number | null };
  thread_values: { thread_id: Uuid; value: JsonText };
  threads: {
    thread_id: Uuid;
    status: string;
    metadata: JsonText;
    config: JsonText;
    error: JsonText | null;
    interrupts: JsonText | null;
    values_summary: JsonText;
    created_at: Timestamp;
    updated_at: Timestamp;
    state_updated_at: Timestamp;
    ttl_strategy: string | null;
    ttl_minutes: number | null;
    expires_at: Timestamp | null;
    executor_id: Uuid | null;
    import_id: Uuid | null;
  };
  webhook_attempts: {
    delivery_id: Uuid;
    attempt: number;
    started_at: Timestamp;
    duration_ms: number;
    status_code: number | null;
    error: string | null;
    answer: string | null;
    answer_headers: JsonText | null;
  };
  webhook_outbox: {
    seq: number;
    delivery_id: Uuid;
    kind: string;
    run_id: Uuid | null;
    thread_id: Uuid | null;
    metadata: JsonText;
    url: string;
    shown_url: string;
    host: string;
    headers: JsonText;
    sent_at_field: string | null;
    lane: string | null;
    max_tries: number | null;
    status: 'pending' | 'delivered' | 'dead';
    tries: number;
    token: Uuid | null;
    worker_id: Uuid | null;
    next_at: Timestamp;
    created_at: Timestamp;
    round_at: Timestamp;
    ended_at: Timestamp | null;
    body: string;
  };
  worker_details: { worker_id: Uuid; role: string; hosts: number };
  workers: {
    worker_id: Uuid;
    host: string;
    pid: number;
    version: string;
    slots: number;
    graph_ids: JsonText;
    started_at: Timestamp;
    expires_at: Timestamp;
  };
}
