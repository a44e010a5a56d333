import { rpcTo } from './a2a.ts';

/** A task, as 1.0 has it. */
export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: {
    readonly state: string;
    readonly message?: { readonly parts: readonly Part[] };
    readonly timestamp: string;
  };
  readonly artifacts?: readonly { readonly name?: string; readonly parts: readonly Part[] }[];
  readonly history?: readonly { readonly parts: readonly Part[] }[];
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into it.
export type Part = Record<string, any>;

export interface Sending {
  /** Of the message, beside its parts. */
  readonly message?: object;
  readonly configuration?: object;
  readonly headers?: Record<string, string>;
}

let count = 0;

/** Sends parts to an agent, and gives the task that the message makes or continues. */
export function senderTo(server: Parameters<typeof rpcTo>[0], graph: string) {
  const rpc = rpcTo(server, graph);
  return async (parts: readonly Part[], { message, configuration, headers }: Sending = {}): Promise<Task> => {
    count += 1;
    const sent = { messageId: `message-${count}`, role: 'ROLE_USER', parts, ...message };
    const { result, error } = await rpc('SendMessage', { message: sent, configuration }, headers);
    if (error) throw new Error(`${error.code} ${error.message}`);
    return result.task;
  };
}
