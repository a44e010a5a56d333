import { afterAll, beforeAll, test } from 'vitest';
import { type CopiedSources, copySources } from '../support/copied-sources.ts';
import { expectCoreTests } from '../support/core-tests.ts';
import { ALL_EXTENSIONS, without } from '../support/deleted-extensions.ts';
import { expectServed, SERVES_ECHO } from '../support/served-without.ts';
import { startServer } from '../support/server.ts';

const LAYERS = ['auth', 'config', 'core', 'events', 'graphs', 'http', 'services', 'storage', 'workers'];

/** One copy of the sources for all tests: what a server compiled of it is there for the next one. */
let sources: CopiedSources;
beforeAll(async () => {
  sources = await copySources();
});
afterAll(() => sources[Symbol.asyncDispose]());

test.each(ALL_EXTENSIONS)('without the extension %s, the server starts and executes runs', async (name) => {
  using _removed = without([name], sources);
  await using server = await startServer({ ...SERVES_ECHO, program: sources.program });
  await expectServed(server);
});

test('without any extension, the tests of all layers pass', async () => {
  await expectCoreTests(LAYERS.map((name) => `test/${name}/`));
});
