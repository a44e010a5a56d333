/** What a key may be used for; each includes the ones before it. */
export const SCOPES = ['read', 'run', 'admin'] as const;

export type Scope = (typeof SCOPES)[number];

export function scopeIncludes(scope: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(scope) >= SCOPES.indexOf(needed);
}

/**
 * What each operation of the API needs, by its operation id: `read` looks, `run` works with threads, runs, crons and the
 * store, `admin` changes what is offered to everybody. What is not in the table needs `admin`.
 */
const OPERATIONS_BY_SCOPE: Readonly<Record<Scope, readonly string[]>> = {
  read: [
    'count_assistants',
    'count_crons',
    'count_threads',
    'create_token',
    'explain_run',
    'explain_stateless_run',
    'get_agent_card',
    'get_assistant',
    'get_assistant_graph',
    'get_assistant_schemas',
    'get_assistant_subgraph',
    'get_assistant_subgraphs',
    'get_cron',
    'get_delivery',
    'get_info',
    'get_item',
    'get_metrics',
    'get_model',
    'get_run',
    'get_thread',
    'get_thread_history',
    'get_thread_state',
    'get_thread_state_at_checkpoint',
    'get_thread_state_at_checkpoint_post',
    'get_thread_storage',
    'get_ui_file',
    'join_run',
    'join_run_stream',
    'join_stateless_run_stream',
    'join_thread_stream',
    'list_cron_runs',
    'list_models',
    'list_namespaces',
    'list_runs',
    'load_ui_component',
    'protocol_thread_events_post',
    'search_assistant_versions',
    'search_assistants',
    'search_crons',
    'search_deliveries',
    'search_items',
    'search_thread_history',
    'search_threads',
  ],
  run: [
    'cancel_run',
    'cancel_runs',
    'copy_thread',
    'create_chat_completion',
    'create_cron',
    'create_run',
    'create_stateless_run',
    'create_stateless_runs',
    'create_thread',
    'create_thread_cron',
    'delete_cron',
    'delete_item',
    'delete_run',
    'delete_thread',
    'mcp',
    'patch_cron',
    'patch_thread',
    'patch_thread_state',
    'protocol_thread_command_post',
    'prune_threads',
    'put_item',
    'redeliver',
    'send_agent_message',
    'stream_run',
    'stream_stateless_run',
    'test_webhook',
    'trigger_cron',
    'update_thread_state',
    'wait_run',
    'wait_stateless_run',
  ],
  admin: ['create_assistant', 'delete_assistant', 'patch_assistant', 'set_latest_assistant_version'],
};

const SCOPE_BY_OPERATION = new Map(
  SCOPES.flatMap((scope) => OPERATIONS_BY_SCOPE[scope].map((operation) => [operation, scope] as const)),
);

/** Undefined for an operation that nobody has put into the table. */
export function scopeOf(operation_id: string | undefined): Scope | undefined {
  return operation_id === undefined ? undefined : SCOPE_BY_OPERATION.get(operation_id);
}
