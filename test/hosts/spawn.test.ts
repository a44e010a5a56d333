import { expect, test } from 'vitest';
import { flagsOfProgram } from '../../src/hosts/pool/spawn.ts';

test.each([
  [
    ['--inspect', '--import', './setup.mjs'],
    ['--inspect', '--import', './setup.mjs'],
  ],
  [['--input-type=module', '-e', 'serve()', '--inspect'], ['--inspect']],
  [['--eval=serve()'], []],
])('a graph host of `node %j` has the flags %j: not the code, which would start a server', (given, flags) => {
  expect(flagsOfProgram(given)).toEqual(flags);
});
