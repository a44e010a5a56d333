import { cpuMs } from '../../support/cpu-time.ts';
import { longestPiece } from '../../support/event-loop-pieces.ts';
import { largeRequests } from '../../support/large-requests.ts';
import { DOORS, LARGE, MAX_BODY, MESSAGES, REQUESTS } from '../../support/large-values.ts';
import type { Measurement, Scenario } from '../measurements.ts';

/** The best of some tries: what the server does is in each, a collection of garbage or a slow moment in some. */
const TRIES = 5;
const AIM_MS = 50;

/** What the largest values of JSON keep the event loop from: asked in the process of the benchmark. */
export const eventLoop: Scenario = {
  title: 'The longest piece of work that the largest request of each kind makes of the event loop',
  async run() {
    await using client = await largeRequests();
    const measurements: Measurement[] = [
      { what: 'V8 alone reads and writes the largest body', value: roundTripMs(), unit: 'ms' },
    ];
    const measure = async (what: string, work: () => Promise<unknown>) =>
      measurements.push({ what, value: await bestPiece(work), unit: 'ms', aim: AIM_MS });
    for (const kind of Object.keys(LARGE)) {
      for (const [what, path, bodyOf] of REQUESTS) {
        const body = Buffer.from(bodyOf(LARGE[kind] as string));
        await measure(`${what}, ${kind}`, () => client.post(path, body));
      }
      await measure(`a command over a WebSocket, ${kind}`, () => client.command(kind));
    }
    for (const kind of Object.keys(MESSAGES)) {
      for (const [what, path, bodyOf, headers] of DOORS) {
        const body = Buffer.from(bodyOf(kind));
        await measure(`${what}, ${kind}`, () => client.post(path, body, 'POST', headers));
      }
    }
    return measurements;
  },
};

/** The shortest of the longest pieces of each try. */
async function bestPiece(work: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES; tries++) best = Math.min(best, await longestPiece(work));
  return best;
}

/** CPU time, ms, in which V8 reads a text of JSON and writes it: the best of some tries. */
function roundTripMs(): number {
  const json = JSON.stringify('\\'.repeat(MAX_BODY / 2));
  return Math.min(...Array.from({ length: 10 }, () => cpuMs(() => JSON.stringify(JSON.parse(json)))));
}
