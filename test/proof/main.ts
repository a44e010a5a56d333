import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { interleavings, killNine, markdown, type Row, sideBySide } from './parts.ts';

/**
 * `npm run proof [-- chaos] [interleavings] [benchmark]`: measures on this machine, in a few minutes, what the README
 * says, and prints it as its table. Exits with 1 if a promise is not kept. The benchmark fetches the official server
 * from the registry of npm; without a network its rows are left out.
 */
const PARTS: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  chaos: async () => [await killNine(50, [5, 20, 35])],
  interleavings: async () => [await interleavings(1_000, Math.floor(Math.random() * 2 ** 31))],
  benchmark,
};

const { positionals } = parseArgs({ allowPositionals: true });
const unknown = positionals.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  process.stderr.write(`unknown part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}\n`);
  process.exit(2);
}

const rows: Row[] = [];
for (const [name, measure] of Object.entries(PARTS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  rows.push(...(await measure()));
}
const machine = `Node ${process.versions.node}, ${cpus().length} × ${cpus()[0]?.model.trim() ?? process.arch}`;
process.stdout.write(`${machine}:\n\n${markdown(rows)}\n`);
process.exit(rows.some(({ failed }) => failed) ? 1 : 0);

async function benchmark(): Promise<readonly Row[]> {
  return sideBySide(3).catch((error: Error) => {
    process.stderr.write(`without the comparison: ${error.message.trim().split('\n')[0]}\n`);
    return [];
  });
}
