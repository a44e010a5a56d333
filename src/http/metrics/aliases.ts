/**
 * Former names of metrics by their current names. They had the official server's prefix, although it has no
 * such metrics. A former name is served for two minor versions after the change.
 */
export const ALIASES: Readonly<Record<string, string>> = {
  agent_server_runs_ended_total: 'lg_api_runs_ended_total',
  agent_server_run_duration_seconds: 'lg_api_run_duration_seconds',
  agent_server_run_queue_seconds: 'lg_api_run_queue_seconds',
  agent_server_http_clients_left_total: 'lg_api_http_clients_left_total',
  agent_server_crons: 'lg_api_num_crons',
  agent_server_crons_overdue: 'lg_api_num_overdue_crons',
  agent_server_webhooks_pending: 'lg_api_webhooks_pending',
  agent_server_webhooks_dead: 'lg_api_webhooks_dead',
  agent_server_webhook_tries_total: 'lg_api_webhook_tries_total',
  agent_server_pg_pool_waiting: 'lg_api_pg_pool_waiting',
  agent_server_pg_retries_total: 'lg_api_pg_retries_total',
  agent_server_host_ready: 'lg_api_host_ready',
  agent_server_host_runs_active: 'lg_api_host_runs_active',
  agent_server_host_loop_blocked_seconds: 'lg_api_host_loop_blocked_seconds',
  agent_server_host_resident_memory_bytes: 'lg_api_host_resident_memory_bytes',
  agent_server_host_restarts: 'lg_api_host_restarts',
};

/** Adds each metric that has a former name under that name too. `text`: Prometheus text format. */
export function withAliases(text: string): string {
  const blocks = text.trimEnd().split('\n\n');
  const former = blocks.flatMap((block) => {
    const [, name = ''] = /^# HELP (\S+)/.exec(block) ?? [];
    const alias = ALIASES[name];
    return alias === undefined ? [] : [renamed(block, name, alias)];
  });
  return `${[...blocks, ...former].join('\n\n')}\n`;
}

/** Every line begins with the name, after `# HELP` or `# TYPE` in the first two. */
function renamed(block: string, name: string, alias: string): string {
  return block
    .split('\n')
    .map((line) => {
      if (line.startsWith('# HELP')) return `# HELP ${alias} Deprecated: now ${name}.`;
      if (line.startsWith('# TYPE')) return line.replace(name, alias);
      return alias + line.slice(name.length);
    })
    .join('\n');
}
