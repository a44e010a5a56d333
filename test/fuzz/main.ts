import { fuzzDocument } from './document.ts';
import { fuzzMessages } from './messages.ts';

/**
 * `npm run fuzz [-- seconds]`: sends requests that are made from the OpenAPI document, then odd messages.
 * `npm run fuzz -- messages [seconds] [seed]`: messages alone; a failure names its seed, and 0 seconds send that only.
 */
const [first = '1200', ...more] = process.argv.slice(2);
const isWell = first === 'messages' ? await messages(more) : await both(Number(first));
process.exitCode = isWell ? 0 : 1;

function messages([seconds = '300', seed]: readonly string[]): Promise<boolean> {
  return fuzzMessages(Number(seconds), seed === undefined ? Date.now() % 1e9 : Number(seed));
}

async function both(seconds: number): Promise<boolean> {
  const document = await fuzzDocument(seconds);
  return (await messages([String(seconds / 4)])) && document;
}
