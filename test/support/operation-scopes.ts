/**
 * The scope that each operation of the OpenAPI document requires, by its id; `open` ones need no key. Written out here a
 * second time on purpose: a route whose scope changes by mistake must not change the expectation with it.
 */
export const OPERATIONS_BY_SCOPE = {
  open: ['get_health', 'get_root', 'get_ui_file'],
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
} as const;

export type RequiredScope = keyof typeof OPERATIONS_BY_SCOPE;

const SCOPE_BY_OPERATION = new Map<string, RequiredScope>(
  Object.entries(OPERATIONS_BY_SCOPE).flatMap(([scope, ids]) =>
    ids.map((id) => [id, scope as RequiredScope] as const),
  ),
);

/** Throws for an operation that is not in the table. */
export function requiredScope(operation_id: string): RequiredScope {
  const scope = SCOPE_BY_OPERATION.get(operation_id);
  if (scope === undefined) throw new Error(`Operation "${operation_id}" is missing in OPERATIONS_BY_SCOPE`);
  return scope;
}
