import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { expect, test } from 'vitest';

const LOCATIONS = new URL('../../src/core/function-locations.ts', import.meta.url).href;

const SOURCE = `interface Written {
  readonly text: string;
}

export const written = async (): Promise<Written> => ({ text: '' });
export const further = (): string => '';
`;

/** Two compiled files in `dist`, of the source in `src`: with its map beside it, and in it. */
async function compile(folder: string): Promise<void> {
  for (const [name, sourcemap] of [['beside', 'external'] as const, ['within', 'inline'] as const]) {
    const options = { loader: 'ts', sourcemap, sourcefile: `../src/${name}.ts` } as const;
    const { code, map } = await transform(SOURCE, options);
    const file = join(folder, 'dist', `${name}.mjs`);
    await writeFile(file, map === '' ? code : `${code}//# sourceMappingURL=${name}.mjs.map\n`);
    if (map !== '') await writeFile(`${file}.map`, map);
  }
}

test('functions are found in the source: of each kind of file, bound ones too, but not those of packages', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'function-locations-')));
  for (const each of ['dist', 'node_modules/package']) await mkdir(join(folder, each), { recursive: true });
  await compile(folder);
  await writeFile(join(folder, 'later.mjs'), '\nexport const later = () => {};\n');
  await writeFile(join(folder, 'common.cjs'), 'exports.common = function () {\n};\n');
  await writeFile(join(folder, 'node_modules/package/index.mjs'), 'export const packaged = () => {};\n');
  await writeFile(
    join(folder, 'program.mjs'),
    `import { functionLocations } from '${LOCATIONS}';
import { written as beside } from './dist/beside.mjs';
import { written as within } from './dist/within.mjs';
import { common } from './common.cjs';
import { packaged } from './node_modules/package/index.mjs';

class Agent {
  think() {}
}
const bound = Agent.prototype.think.bind(new Agent());
const evaluated = new Function('return 1');
const all = { beside, within, common, bound, packaged, evaluated, native: Math.max, nothing: undefined };
const named = (of) => Object.fromEntries(functionLocations(Object.values(of)).map((each, i) => [Object.keys(of)[i], each ?? null]));
const first = named(all);
const { later } = await import('./later.mjs');
process.stdout.write(JSON.stringify({ ...first, ...named({ later }), globals: Object.keys(globalThis).filter((key) => key.includes('function')) }));
`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'program.mjs')]);
  const at = (path: string, line: number) => ({ file: join(folder, path), line });
  expect(JSON.parse(stdout)).toEqual({
    beside: at('src/beside.ts', 5),
    within: at('src/within.ts', 5),
    common: at('common.cjs', 1),
    bound: at('program.mjs', 8),
    packaged: null,
    evaluated: null,
    native: null,
    nothing: null,
    later: at('later.mjs', 2),
    globals: [],
  });
});

test('the map of a file is read once, for all of its functions and all calls', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'function-locations-')));
  await mkdir(join(folder, 'dist'));
  await compile(folder);
  await writeFile(
    join(folder, 'program.mjs'),
    `import { functionLocations } from '${LOCATIONS}';
import { written, further } from './dist/within.mjs';

const { parse } = JSON;
let n_parsed = 0;
JSON.parse = (...given) => {
  n_parsed += 1;
  return parse(...given);
};
const lines = [1, 2].map(() => functionLocations([written, further]).map((each) => each.line));
process.stdout.write(JSON.stringify({ lines, n_parsed }));
`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'program.mjs')]);
  expect(JSON.parse(stdout)).toEqual({
    lines: [
      [5, 6],
      [5, 6],
    ],
    n_parsed: 1,
  });
});
