import { type JSONRPCMessage, ProtocolErrorCode, type Transport } from '@modelcontextprotocol/server';
import { tryOrUndefined } from '../../../core/failure.ts';
import { isObject } from '../../../core/json.ts';

/** Reports params that the SDK's schemas reject as invalid params; the SDK reports an internal error. */
export function reportInvalidParams(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => send(withInvalidParams(message), options);
}

function withInvalidParams(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message) || message.error.code !== ProtocolErrorCode.InternalError) return message;
  const text = issuesOfParams(message.error.message);
  if (text === undefined) return message;
  return { ...message, error: { code: ProtocolErrorCode.InvalidParams, message: `Invalid params: ${text}` } };
}

/** Formats the issues that the SDK sends as JSON; `undefined` for any other message. */
function issuesOfParams(text: string): string | undefined {
  const issues = text.startsWith('[') ? tryOrUndefined(() => JSON.parse(text) as unknown[]) : undefined;
  const lines = issues?.map((issue) => {
    if (!isObject(issue) || !Array.isArray(issue['path']) || issue['path'][0] !== 'params') return undefined;
    return `${issue['path'].join('.')}: ${issue['message']}`;
  });
  return lines?.length && lines.every((line) => line !== undefined) ? lines.join('; ') : undefined;
}
