import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { officialServer } from './official-server.ts';
import { comparedRows, interleavings, killNine, markdown } from './parts.ts';

const README = readFileSync('README.md', 'utf8');

test('the proof counts the runs that a killed server resumes, and plays interleavings', async () => {
  const rows = [await killNine(6, [2]), await interleavings(10, 1)];

  expect(rows[0]).toEqual({
    what: 'Runs that resume and execute each step once, with `kill -9` once',
    figure: '6 of 6',
    command: 'npm run proof -- chaos',
  });
  expect(rows[1]?.figure).toMatch(/^no violation in 10 \([\d,]+ steps\)$/);
  expect(markdown(rows).split('\n')).toHaveLength(4);
});

test('the proof has one row for each load of the comparison, with both servers', () => {
  const url = 'http://other';
  const of = (what: string, ours: number, theirs: number, unit: 'ms' | 'requests/s') => [
    { what: `${what} this server, 1 graph host`, value: ours, unit },
    { what: `${what} ${url}`, value: theirs, unit },
  ];
  const measurements = [
    ...of('echo, 1 at once, p50:', 6.54, 512.3, 'ms'),
    ...of('echo, 64 at once, rate:', 586.4, 112, 'requests/s'),
    ...of('200 tokens, 16 at once, rate:', 122, 24.5, 'requests/s'),
  ];

  expect(comparedRows({ measurements }, url).map(({ figure }) => figure)).toEqual([
    '6.5 ms, against 512.3 ms',
    '586 runs a second, against 112 runs a second',
    '24,400 tokens a second, against 4,900 tokens a second',
  ]);
  expect(() => comparedRows({ measurements: measurements.slice(0, 2) }, url)).toThrow('echo, 64 at once');
  const shown = [...README.matchAll(/^\| (.+) \| .+ \| `npm run proof -- benchmark` \|$/gm)];
  expect(comparedRows({ measurements }, url).map(({ what }) => what)).toEqual(
    shown.map(([, what]) => expect.stringMatching(new RegExp(`^${what}`))),
  );
});

test('the official server that cannot be fetched is an error, with which its rows are left out', async () => {
  const env = {
    ...process.env,
    npm_config_registry: 'http://127.0.0.1:9/',
    npm_config_cache: '/nonexistent',
  };
  await expect(officialServer(env)).rejects.toThrow(/npm install/);
});
