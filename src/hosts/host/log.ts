import { tryOrUndefined } from '../../core/failure.ts';
import { customLogger, type Logger } from '../../core/logger.ts';
import { toWireError } from '../protocol/errors.ts';
import type { ServerConnection } from './connection.ts';

/** The server's log: it filters by level and redacts. */
export function remoteLogger(server: ServerConnection): Logger {
  return customLogger(({ level, message, fields }) => {
    const entries = Object.entries(fields);
    const errors = entries.filter(([, value]) => value instanceof Error);
    const others = entries.filter(([, value]) => !(value instanceof Error));
    server.notify('log', {
      level,
      message,
      fields: tryOrUndefined(() => JSON.stringify(Object.fromEntries(others))) ?? '{}',
      errors: Object.fromEntries(errors.map(([name, error]) => [name, toWireError(error)])),
    });
    server.flush();
  });
}
