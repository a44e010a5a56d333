import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { HttpClient } from '../support/http-client.ts';
import { createThread, getThread, type RemoteRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { isConnectionError } from './clients.ts';
import { CutReader, type CutStream } from './cut-reader.ts';
import { TEN } from './ten-steps.ts';

/** Creates that are under way at the same time. */
const AT_ONCE = 20;
const PATIENCE_MS = 60_000;

interface Followed {
  readonly run: RemoteRun;
  readonly stream: CutStream;
  readonly reader: CutReader;
  isOver: boolean;
}

/** Clients who create runs of ten steps and follow each second one, and do not give up. */
export class InsistentClients {
  /** Those that were acknowledged. */
  readonly runs: RemoteRun[] = [];
  /** When a run was first asked for, and when that was acknowledged; ms. */
  readonly times = new Map<string, { readonly asked: number; readonly acknowledged: number }>();
  /** How many answers there were of each status but 200. */
  readonly refusals: Record<number, number> = {};
  readonly #http: HttpClient;
  readonly #url: string;
  readonly #threads: readonly string[];
  readonly #followed: Followed[] = [];

  private constructor(http: HttpClient, url: string, threads: readonly string[]) {
    this.#http = http;
    this.#url = url;
    this.#threads = threads;
  }

  static async on(url: string, http: HttpClient, threads: number): Promise<InsistentClients> {
    const ids = await Promise.all(Array.from({ length: threads }, () => createThread(http)));
    return new InsistentClients(http, url, ids);
  }

  /** In turn on each thread. */
  async create(count: number, body: Readonly<Record<string, unknown>>): Promise<void> {
    let created = 0;
    const client = async () => {
      while (created < count) {
        const index = created++;
        const run = await this.#insist(this.#threads[index % this.#threads.length] as string, body);
        this.runs.push(run);
        if (index % 2 === 0) this.#follow(run);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
  }

  /** Each thread has the steps of all of its runs, each once. */
  async expectWholeStates(): Promise<void> {
    for (const thread_id of this.#threads) {
      const runs = this.runs.filter((run) => run.thread_id === thread_id);
      const { values } = await getThread(this.#http, thread_id);
      expect(values, thread_id).toEqual({ n: 10, executed: runs.flatMap(() => TEN) });
    }
  }

  /** Every reader comes to the end of its run, and has seen what the log tells anybody who comes later, each event once. */
  async expectWholeStreams(): Promise<void> {
    const isOver = () => this.#followed.every((each) => each.isOver);
    await until('every reader is at the end', isOver, PATIENCE_MS).catch((error: Error) => {
      const open = this.#followed.filter((each) => !each.isOver);
      const seen = open.map(({ run, reader }) => `${run.run_id} at ${reader.seen.at(-1)?.id}`);
      throw new Error(`${error.message}: ${seen.join(', ')}`);
    });
    for (const { run, stream, reader } of this.#followed) {
      expect(
        reader.seen.map(({ id }) => Number(id)),
        run.run_id,
      ).toEqual(reader.seen.map((_, before) => before + 1));
      const later = new CutReader(this.#url, stream);
      await later.read([]);
      expect(reader.seen, run.run_id).toEqual(later.seen);
    }
  }

  /** The same request with the same key until it is answered with a run. */
  async #insist(thread_id: string, body: Readonly<Record<string, unknown>>): Promise<RemoteRun> {
    const headers = { 'idempotency-key': randomUUID() };
    let created: RemoteRun | undefined;
    const asked = performance.now();
    await until(
      `a run is created, but for ${JSON.stringify(this.refusals)}`,
      async () => {
        const sent = this.#http.send('POST', `/threads/${thread_id}/runs`, { body, headers });
        const answer = await sent.catch((error: unknown) => {
          if (!isConnectionError(error)) throw error;
        });
        if (answer?.status === 200) created = answer.body as RemoteRun;
        else if (answer) this.refusals[answer.status] = (this.refusals[answer.status] ?? 0) + 1;
        return created !== undefined;
      },
      PATIENCE_MS,
    );
    const run = created as unknown as RemoteRun;
    this.times.set(run.run_id, { asked, acknowledged: performance.now() });
    return run;
  }

  #follow(run: RemoteRun): void {
    const stream = { path: `/threads/${run.thread_id}/runs/${run.run_id}/stream`, all: '-1' };
    const followed: Followed = { run, stream, reader: new CutReader(this.#url, stream), isOver: false };
    this.#followed.push(followed);
    void followed.reader.read([]).then(() => {
      followed.isOver = true;
    });
  }
}
