import type { Duplex } from 'node:stream';
import { z } from 'zod';
import { toError } from '../../core/failure.ts';
import { fromWireError, toWireError, WireErrorSchema } from './errors.ts';
import { encodeFrame, FrameDecoder } from './frames.ts';
import type { Methods, Params, Result } from './messages.ts';

/** What the other side calls: a handler for each of our methods. It may return its result or a promise of it. */
export type Handlers<M extends Methods> = {
  readonly [Name in keyof M]: (params: Params<M, Name>) => Result<M, Name> | Promise<Result<M, Name>>;
};

/** The other side ended the connection, or its process has ended. */
export class ConnectionClosed extends Error {
  override readonly name = 'ConnectionClosed';
}

/** The other side broke the protocol. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

const Message = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.number().int().optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string(), data: WireErrorSchema }).optional(),
});

type Message = z.infer<typeof Message>;

/** Codes of JSON-RPC 2.0. */
const METHOD_NOT_FOUND = -32601;
const FAILED = -32000;

/** The methods of both sides, and handlers of our own. */
interface Spoken<Ours extends Methods, Theirs extends Methods> {
  readonly ours: Ours;
  readonly theirs: Theirs;
  readonly handlers: Handlers<Ours>;
}

interface Pending {
  readonly method: string;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One end of a connection that speaks JSON-RPC 2.0 in frames of MessagePack. Messages of one turn of the event loop are
 * written together; those that arrive are handled in their order, each handler being called before the next message.
 */
export class Peer<Ours extends Methods, Theirs extends Methods> {
  readonly #stream: Duplex;
  readonly #ours: Record<string, Methods[string]>;
  readonly #theirs: Record<string, Methods[string]>;
  readonly #handlers: Record<string, unknown>;
  readonly #decoder = new FrameDecoder();
  readonly #pending = new Map<number, Pending>();
  readonly #closed = Promise.withResolvers<Error>();
  #lastId = 0;
  /** Sent in this turn of the event loop. */
  #outgoing: Buffer[] = [];
  #failure: Error | undefined;

  constructor(stream: Duplex, { ours, theirs, handlers }: Spoken<Ours, Theirs>) {
    this.#stream = stream;
    this.#ours = { ...ours };
    this.#theirs = { ...theirs };
    this.#handlers = { ...handlers };
    stream.on('data', (chunk: Buffer) => this.#receive(chunk));
    stream.on('error', (error) => this.close(error));
    stream.on('close', () => this.close(new ConnectionClosed('The connection was closed.')));
  }

  /** Resolves with the reason when the connection has ended. */
  get closed(): Promise<Error> {
    return this.#closed.promise;
  }

  get isClosed(): boolean {
    return this.#failure !== undefined;
  }

  /** Why it has ended, if it has: with this, pending requests were rejected. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Adds methods, before the first message of either side that has one of them. Returns this connection with their types. */
  extend<O extends Methods, T extends Methods>({ ours, theirs, handlers }: Spoken<O, T>): Peer<O, T> {
    Object.assign(this.#ours, ours);
    Object.assign(this.#theirs, theirs);
    Object.assign(this.#handlers, handlers);
    return this as unknown as Peer<O, T>;
  }

  /** Rejects with the error of the other side, or with the reason for which the connection ended. */
  request<Name extends keyof Theirs & string>(
    method: Name,
    params: Params<Theirs, Name>,
  ): Promise<Result<Theirs, Name>> {
    if (this.#failure) return Promise.reject(this.#failure);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { method, resolve: resolve as (result: unknown) => void, reject });
      try {
        this.#send({ id, method, params });
      } catch (error) {
        this.#pending.delete(id);
        reject(error);
      }
    });
  }

  /** Throws `FrameError` if the message is too large. Does nothing on a connection that has ended. */
  notify<Name extends keyof Theirs & string>(method: Name, params: Params<Theirs, Name>): void {
    this.#send({ method, params });
  }

  /** Writes at once what was sent in this turn of the event loop: the process may not live to see the next one. */
  flush(): void {
    const buffers = this.#outgoing;
    if (buffers.length === 0) return;
    this.#outgoing = [];
    // One write of a copy costs less than a vector of small ones.
    this.#stream.write(buffers.length === 1 ? buffers[0] : Buffer.concat(buffers));
  }

  /** Ends the connection; pending requests fail with `reason`. */
  close(reason: Error): void {
    if (this.#failure) return;
    this.#failure = reason;
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
    this.#stream.destroy();
    this.#closed.resolve(reason);
  }

  #send(message: object): void {
    if (this.#failure) return;
    const frame = encodeFrame({ jsonrpc: '2.0', ...message });
    if (this.#outgoing.length === 0) setImmediate(() => this.flush());
    this.#outgoing.push(frame);
  }

  #receive(chunk: Buffer): void {
    try {
      for (const each of this.#decoder.decode(chunk)) {
        if (this.#failure) return;
        this.#handle(parsed(Message, each, 'a message'));
      }
    } catch (error) {
      this.close(toError(error));
    }
  }

  #handle({ id, method, params, result, error }: Message): void {
    if (method === undefined) this.#respond(id, result, error);
    else this.#call(id, method, params);
  }

  #respond(id: number | undefined, result: unknown, error: Message['error']): void {
    const pending = id === undefined ? undefined : this.#pending.get(id);
    if (id === undefined || !pending) throw new ProtocolError('A response matches no request.');
    const shape = this.#theirs[pending.method]?.result;
    // Before it is forgotten: a result of another shape ends the connection, and with it all that is pending.
    const checked = error || !shape ? undefined : parsed(shape, result, `the result of ${pending.method}`);
    this.#pending.delete(id);
    if (error) pending.reject(fromWireError(error.data));
    else pending.resolve(checked);
  }

  #call(id: number | undefined, method: string, params: unknown): void {
    const declared = Object.hasOwn(this.#ours, method) ? this.#ours[method] : undefined;
    if (!declared) {
      const data = toWireError(new ProtocolError(`There is no method ${method}.`));
      if (id !== undefined)
        this.#send({ id, error: { code: METHOD_NOT_FOUND, message: data.message, data } });
      return;
    }
    const checked = parsed(declared.params, params, `the params of ${method}`);
    const handler = this.#handlers[method] as (params: unknown) => unknown;
    // Called at once: messages are handled in their order.
    const answer = new Promise((resolve) => {
      resolve(handler(checked));
    });
    answer
      .then(
        (result) => id !== undefined && this.#send({ id, result: result ?? null }),
        (error) => this.#fail(id, error),
      )
      .catch((error: unknown) => this.#fail(id, error));
  }

  /** What handles a notification reports its failures itself. */
  #fail(id: number | undefined, thrown: unknown): void {
    const data = toWireError(thrown);
    if (id !== undefined) this.#send({ id, error: { code: FAILED, message: data.message, data } });
  }
}

function parsed<T extends z.ZodType>(shape: T, value: unknown, what: string): z.infer<T> {
  const { success, data, error } = shape.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  const place = issue?.path.map(String).join('.') || 'itself';
  throw new ProtocolError(`Invalid schema of ${what}: ${place}: ${issue?.message}`);
}
