import { type JSONRPCMessage, ProtocolErrorCode, type Transport } from '@modelcontextprotocol/server';
import { tryOrUndefined } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';

/** The SDK answers params that its schemas refuse as an internal error; for JSON-RPC they are invalid. */
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

/** One text of the issues that the SDK sends as JSON; `undefined` for any other message. */
function issuesOfParams(text: string): string | undefined {
  const issues = text.startsWith('[') ? tryOrUndefined(() => JSON.parse(text) as unknown[]) : undefined;
  const lines = issues?.map((issue) => {
    if (!isObject(issue) || !Array.isArray(issue['path']) || issue['path'][0] !== 'params') return undefined;
    return `${issue['path'].join('.')}: ${issue['message']}`;
  });
  return lines?.length && lines.every((line) => line !== undefined) ? lines.join('; ') : undefined;
}
