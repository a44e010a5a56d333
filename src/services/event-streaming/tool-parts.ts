import { isObject } from '../../core/json.ts';
import type { Namespace } from '../../schemas/event-streaming.ts';
import type { EventPart } from './event-part.ts';
import { MessageParts, type WireMessage } from './message-parts.ts';

/** The calls of tools that a message asks for: they start with the state that holds it. */
export function toolStarts(namespace: Namespace, { tool_calls }: WireMessage): EventPart[] {
  const calls = Array.isArray(tool_calls) ? tool_calls.filter((call) => isObject(call)) : [];
  return calls.map(({ id, name, args }) => {
    return tool(namespace, { event: 'tool-started', tool_call_id: id, tool_name: name, input: args });
  });
}

/** The end of a call, from the message with its result; as in `ProtocolStream`, that is also sent under its call. */
export function toolMessageParts(namespace: Namespace, message: WireMessage): EventPart[] {
  const { tool_call_id, status, content } = message;
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  if (status === 'error') return [tool(namespace, { event: 'tool-error', tool_call_id, message: text })];
  const id = `tool-${String(tool_call_id)}`;
  const under = new MessageParts([...namespace, `tools:${String(tool_call_id)}`]);
  const [start, ...rest] = under.finish({ id, type: 'tool', content: text });
  return [
    ...(start ? [{ ...start, data: { ...(start.data as object), tool_call_id } }] : []),
    ...rest,
    tool(namespace, { event: 'tool-finished', tool_call_id, output: message }),
  ];
}

function tool(namespace: Namespace, data: object): EventPart {
  return { method: 'tools', namespace, data };
}
