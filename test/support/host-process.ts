import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { encodeFrame, FrameDecoder } from '../../src/hosts/protocol/frames.ts';

/** A message of JSON-RPC 2.0, as it is in a frame. */
export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

/**
 * The process of a graph host, and the frames to and from it. Nothing of the server takes part, so that a host in another
 * language can be tested in the same way. `command`: the program and its arguments.
 */
export class HostProcess implements AsyncDisposable {
  readonly folder: string;
  /** What it says, in its order. */
  readonly messages: AsyncGenerator<Message>;
  readonly exited: Promise<number | string>;
  readonly stderr: Promise<string>;
  readonly #process: ChildProcess;

  private constructor(command: readonly string[], folder: string) {
    const [program = process.execPath, ...args] = command;
    this.folder = folder;
    this.#process = spawn(program, args, {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'ignore'],
    });
    this.exited = once(this.#process, 'exit').then(([code, signal]) => code ?? signal);
    this.stderr = text(this.#process.stderr as Socket);
    // It may end while something is still being sent to it.
    for (const fd of [3, 4, 5]) this.#pipe(fd).on('error', () => {});
    this.messages = this.#receive();
  }

  static async of(command: readonly string[]): Promise<HostProcess> {
    return new HostProcess(command, await mkdtemp(join(tmpdir(), 'host-process-')));
  }

  /** Sends messages together, so that the host has read the last when it acts on the first. */
  send(...messages: readonly Message[]): void {
    this.sendBytes(Buffer.concat(messages.map((message) => encodeFrame({ jsonrpc: '2.0', ...message }))));
  }

  sendBytes(bytes: Buffer): void {
    this.#pipe(3).write(bytes);
  }

  /** Sends a line to the watch. Resolves with its answer. */
  async watch(line: string): Promise<unknown> {
    const watch = this.#pipe(4);
    watch.write(`${line}\n`);
    let answer = '';
    for await (const chunk of watch.iterator({ destroyOnReturn: false })) {
      answer += String(chunk);
      if (answer.endsWith('\n')) break;
    }
    return JSON.parse(answer);
  }

  close(): void {
    this.#pipe(3).end();
  }

  async *#receive(): AsyncGenerator<Message> {
    const decoder = new FrameDecoder();
    for await (const chunk of this.#pipe(3)) yield* decoder.decode(chunk) as Message[];
  }

  #pipe(fd: number): Socket {
    return this.#process.stdio[fd] as Socket;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.exited;
    await rm(this.folder, { recursive: true, force: true });
  }
}
