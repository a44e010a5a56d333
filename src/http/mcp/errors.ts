import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { ServerError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';

/** What nobody foresaw is logged, and told to nobody: the library would send its text. */
export async function inWordsOfMcp<T>(logger: Logger, answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (error instanceof ServerError) {
      throw new ProtocolError(ProtocolErrorCode.InvalidRequest, error.message);
    }
    logger.error('MCP request failed', { error });
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
  }
}
