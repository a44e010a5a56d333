import type { Run } from '../../src/schemas/runs.ts';
import { type HttpClient, httpClient } from '../support/http-client.ts';
import { createThread, getThread, listRuns, startRun } from '../support/remote-runs.ts';
import { until } from '../support/until.ts';
import { anyOf, isConnectionError } from './clients.ts';
import type { ChaosServer } from './server.ts';

/** What a client may do to a thread whose worker has just died. */
const ATTACKS = ['rollback', 'interrupt', 'cancel'] as const;
type Attack = (typeof ATTACKS)[number];

/** Longer than a test: a run ends only because somebody ends it. */
const LONG_MS = 600_000;
/** To each server: fewer than it has to PostgreSQL, for whoever waits too long for one of those is refused. */
const CONNECTIONS = 8;

/** Threads which each execute a run and have another one blocked behind it. */
export class BusyThreads implements Disposable {
  /** Asked in turn; one that is away is passed over. */
  servers: readonly ChaosServer[];
  /** Attacks that met a server. */
  answered = 0;
  /** What some were answered with that clients must never see. */
  readonly failures: string[] = [];
  readonly #clients: ReadonlyMap<ChaosServer, HttpClient>;
  readonly #http = anyOf(() => this.servers.map((server) => this.#clients.get(server) as HttpClient));
  /** Of each thread the run that executes. */
  #heads = new Map<string, string>();

  private constructor(servers: readonly ChaosServer[]) {
    this.servers = servers;
    const client = ({ process }: ChaosServer) => httpClient(process.url, { connections: CONNECTIONS });
    this.#clients = new Map(servers.map((server) => [server, client(server)]));
  }

  static async create(count: number, ...servers: readonly ChaosServer[]): Promise<BusyThreads> {
    const threads = new BusyThreads(servers);
    const ids = await Promise.all(Array.from({ length: count }, () => createThread(threads.#http)));
    threads.#heads = new Map(ids.map((thread_id) => [thread_id, '']));
    await Promise.all(ids.map((thread_id) => startRun(threads.#http, longRun(), thread_id)));
    return threads;
  }

  [Symbol.dispose](): void {
    for (const client of this.#clients.values()) client[Symbol.dispose]();
  }

  get ids(): string[] {
    return [...this.#heads.keys()];
  }

  /** Waits until each thread executes a run, and parks another one behind it. */
  async park(): Promise<void> {
    for (const thread_id of this.ids) {
      await this.#untilEach('executes a run', [thread_id], async () => {
        const head = (await listRuns(this.#http, thread_id)).find(({ status }) => status === 'running');
        this.#heads.set(thread_id, head?.run_id ?? '');
        return head !== undefined;
      });
    }
    await Promise.all(this.ids.map((thread_id) => startRun(this.#http, longRun(), thread_id)));
  }

  /** Every thread at once. */
  async attackAll(round: number): Promise<void> {
    await Promise.all(this.ids.map((thread_id) => this.attack(thread_id, round)));
  }

  /** In even rounds one of them, another for each third of the threads; in odd ones all at the same time. */
  async attack(thread_id: string, round: number): Promise<void> {
    const first = ATTACKS[(this.ids.indexOf(thread_id) + round) % ATTACKS.length] as Attack;
    const others = round % 2 === 0 ? [] : ATTACKS.filter((attack) => attack !== first);
    await Promise.all([first, ...others].map((attack) => this.#send(thread_id, attack)));
  }

  /** The head that is cancelled is the one that executed when the second run was blocked. */
  async #send(thread_id: string, attack: Attack): Promise<void> {
    const runs = `/threads/${thread_id}/runs`;
    const body = { ...longRun(), multitask_strategy: attack };
    const send = () =>
      attack === 'cancel'
        ? this.#http.send('POST', `${runs}/${this.#heads.get(thread_id)}/cancel`)
        : this.#http.send('POST', runs, { body });
    const answer = await send().catch((error: unknown) => {
      if (!isConnectionError(error)) throw error;
    });
    if (!answer) return;
    this.answered++;
    if (answer.status >= 500) this.failures.push(`${attack} ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  /** Cancels all; then each thread comes to rest, and takes a new run that succeeds. */
  async settle(): Promise<void> {
    await this.#http.send('POST', '/runs/cancel', { body: { status: 'all' } });
    await this.#untilEach('is idle', this.ids, async (thread_id) => {
      return (await getThread(this.#http, thread_id)).status !== 'busy';
    });
    const body = { assistant_id: 'echo', input: { x: 1 } };
    const last = await Promise.all(this.ids.map((thread_id) => startRun(this.#http, body, thread_id)));
    const runOf = new Map(last.map(({ thread_id, run_id }) => [thread_id, run_id]));
    await this.#untilEach('has executed a new run', this.ids, async (thread_id) => {
      const path = `/threads/${thread_id}/runs/${runOf.get(thread_id)}`;
      const { status } = await this.#http.call<Run>('GET', path);
      if (status === 'error') throw new Error(`the new run of ${thread_id} failed`);
      return status === 'success';
    });
    await this.#untilEach('is idle again', this.ids, async (thread_id) => {
      return (await getThread(this.#http, thread_id)).status === 'idle';
    });
  }

  /** Asks about each in turn; what is true of one stays true. Says what the others are doing when it takes too long. */
  async #untilEach(
    what: string,
    thread_ids: readonly string[],
    isSo: (thread_id: string) => Promise<boolean>,
  ): Promise<void> {
    const left = new Set(thread_ids);
    const look = async () => {
      for (const thread_id of left) {
        if (!(await isSo(thread_id))) return false;
        left.delete(thread_id);
      }
      return true;
    };
    await until(`each thread ${what}`, look).catch(async (error: Error) => {
      throw new Error(`${error.message}: ${left.size} left, such as ${await this.#story([...left][0])}`);
    });
  }

  async #story(thread_id = ''): Promise<string> {
    const { status } = await getThread(this.#http, thread_id);
    const runs = await listRuns(this.#http, thread_id);
    const open = runs.filter((run) => run.status === 'pending' || run.status === 'running');
    const explained = open.map(({ run_id }) => this.#http.call('GET', `/runs/${run_id}/explain`));
    const statuses = runs.map((run) => run.status).join(', ');
    return `${thread_id} ${status} with runs ${statuses}: ${JSON.stringify(await Promise.all(explained), null, 1)}`;
  }
}

function longRun() {
  return { assistant_id: 'overlap', input: { ms: LONG_MS, label: '' } };
}
