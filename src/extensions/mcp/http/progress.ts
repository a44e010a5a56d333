import type { LoggingLevel, ServerContext } from '@modelcontextprotocol/server';
import { isObject, type JsonObject } from '../../../core/json.ts';
import type { Logger } from '../../../core/logger.ts';
import type { ToolProgress } from '../service.ts';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/**
 * Notifies the client during a call: each finished node, or what the graph reports by the custom events `{mcp:
 * {progress, total, message}}` and `{mcp: {log: {level, data, logger}}}`. Progress requires the client's progress
 * token, and only increases.
 */
export function progressNotifier(
  { mcpReq }: ServerContext,
  logger: Logger,
): (progress: ToolProgress) => void {
  const progressToken = mcpReq._meta?.progressToken;
  let last = -1;

  function logFailure(sent: Promise<void>): void {
    sent.catch((error: unknown) => logger.debug('cannot send a notification to an MCP client', { error }));
  }

  function progress(value: number, more: { total?: number; message?: string }): void {
    if (progressToken === undefined || value <= last) return;
    last = value;
    const params = { progressToken, progress: value, ...more };
    logFailure(mcpReq.notify({ method: 'notifications/progress', params }));
  }

  function customEvent({ progress: value, total, message, log }: JsonObject): void {
    if (typeof value === 'number') {
      progress(value, {
        ...(typeof total === 'number' ? { total } : {}),
        ...(typeof message === 'string' ? { message } : {}),
      });
    }
    if (!isObject(log)) return;
    const level = LEVELS.includes(String(log['level'])) ? (log['level'] as LoggingLevel) : 'info';
    const name = typeof log['logger'] === 'string' ? log['logger'] : undefined;
    logFailure(mcpReq.log(level, log['data'] ?? null, name));
  }

  return (update) => {
    if (update.kind === 'nodes') return progress(Math.floor(last) + 1, { message: update.names.join(', ') });
    if (isObject(update.data['mcp'])) customEvent(update.data['mcp']);
  };
}
