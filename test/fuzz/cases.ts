import { type HttpClient, httpClient } from '../support/http-client.ts';
import { RandomJson } from '../support/random-json.ts';
import { FUZZED, type FuzzedGraph } from './graphs.ts';
import { type OddRequest, oddRequest } from './odd-requests.ts';
import { whileWatched } from './watch.ts';

/** A server with the graphs of `FUZZED`. */
export interface Target {
  readonly url: string;
  readonly pid: number;
}

export interface CaseStats {
  readonly statuses: readonly number[];
  readonly held_ms: number;
}

/** Of a request that is small; each MiB of its body has a part more for parsing, checking and storing it. */
const HELD_MS = 1000;
const HELD_MS_PER_MIB = 500;
const PATIENCE_MS = 60_000;
/** Of a request, in the report of a failure. */
const SHOWN = 2000;

/**
 * Sends what one number makes: a few odd requests to one graph on a thread of their own. Throws, with the number and
 * the request, when an answer is a 5xx or does not come, when the server could serve nobody else meanwhile, and when
 * the thread is not well afterwards.
 */
export async function runCase(target: Target, seed: number): Promise<CaseStats> {
  const random = new RandomJson(seed);
  const name = random.one(Object.keys(FUZZED));
  using client = httpClient(target.url);
  const { thread_id } = await client.call<{ thread_id: string }>('POST', '/threads', {});
  const statuses: number[] = [];
  let slowest = 0;
  for (let left = 1 + random.below(3); left > 0; left--) {
    const request = oddRequest(random, name, thread_id);
    try {
      const { result, held_ms } = await whileWatched(target, () => send(target, request));
      if (result.status >= 500 && !isOfGraph(request, result))
        throw new Error(`status ${result.status}: ${result.text.slice(0, 500)}`);
      checkHeld(held_ms, request);
      await checkReadable(client, thread_id);
      statuses.push(result.status);
      slowest = Math.max(slowest, held_ms);
    } catch (error) {
      throw failure(seed, name, request, error);
    }
    if (left === 1)
      await checkRuns(client, thread_id, name).catch((error) => {
        throw failure(seed, name, request, error);
      });
  }
  return { statuses, held_ms: slowest };
}

/** OpenAI's API has no other way to say that a graph failed. */
function isOfGraph({ path }: OddRequest, { text }: { readonly text: string }): boolean {
  return (
    path.startsWith('/v1/') &&
    text.includes('"type":"server_error"') &&
    !text.includes('Internal Server Error')
  );
}

async function send({ url }: Target, { path, body }: OddRequest): Promise<{ status: number; text: string }> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return { status: answer.status, text: await answer.text() };
}

function checkHeld(held_ms: number, { body }: OddRequest): void {
  const allowed_ms = HELD_MS + (Buffer.byteLength(body) / 1024 ** 2) * HELD_MS_PER_MIB;
  if (held_ms > allowed_ms) throw new Error(`the event loop was held for ${Math.round(held_ms)} ms`);
}

async function checkReadable(client: HttpClient, thread_id: string): Promise<void> {
  await client.call('GET', `/threads/${thread_id}/state`);
  await client.call('GET', `/threads/${thread_id}/history?limit=3`);
}

/** A good run ends as it always does, whatever came before, and lets go of its thread. */
async function checkRuns(client: HttpClient, thread_id: string, name: string): Promise<void> {
  const { good, ends } = FUZZED[name] as FuzzedGraph;
  const at = `/threads/${thread_id}`;
  const run = { assistant_id: name, input: good };
  const values = await client.call<{ __error__?: unknown }>('POST', `${at}/runs/wait`, run);
  const [newest] = await client.call<{ status: string }[]>('GET', `${at}/runs?limit=1`);
  const { status } = await client.call<{ status: string }>('GET', at);
  await checkReadable(client, thread_id);
  const wanted = ends === 'interrupted' ? ['interrupted', 'success'] : [ends];
  const error = JSON.stringify(values.__error__);
  if (!wanted.includes(newest?.status ?? '')) {
    throw new Error(`a good run ended as ${newest?.status}: ${error}`);
  }
  if (status === 'busy') throw new Error('the thread is still busy');
}

function failure(seed: number, graph: string, { path, body }: OddRequest, cause: unknown): Error {
  const shown = body.length > SHOWN ? `${body.slice(0, SHOWN)}… (${body.length} characters)` : body;
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new Error(`seed ${seed}, graph ${graph}: ${reason}\nPOST ${path}\n${shown}`, { cause });
}
