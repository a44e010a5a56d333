import { fuzzDocument } from './document.ts';
import { measureEngine, measureLargest } from './largest.ts';
import { fuzzMessages } from './messages.ts';

/**
 * `npm run fuzz [-- seconds]`: sends requests that are made from the OpenAPI document, then odd messages.
 * `npm run fuzz -- messages [seconds] [seed]`: messages alone; a failure names its seed, and 0 seconds send that only.
 * `npm run fuzz -- largest [rows]`: sends every operation its largest body against the largest rows, and prints the longest
 * pause of the event loop for each. Includes PostgreSQL with `TEST_POSTGRES_URI`.
 */
const [first = '1200', ...more] = process.argv.slice(2);
const isWell = await command();
process.exitCode = isWell ? 0 : 1;

function command(): Promise<boolean> {
  if (first === 'messages') return messages(more);
  if (first === 'largest') return measureLargest(Number(more[0] ?? 40));
  // The engine of a process is that of its environment.
  if (first === 'largest-of-engine') return measureEngine(Number(more[0]), String(more[1]));
  return both(Number(first));
}

function messages([seconds = '300', seed]: readonly string[]): Promise<boolean> {
  return fuzzMessages(Number(seconds), seed === undefined ? Date.now() % 1e9 : Number(seed));
}

async function both(seconds: number): Promise<boolean> {
  const document = await fuzzDocument(seconds);
  return (await messages([String(seconds / 4)])) && document;
}
