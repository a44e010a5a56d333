import { test } from 'vitest';
import { expectCoreTests } from '../support/core-tests.ts';

const LAYERS = ['auth', 'config', 'core', 'events', 'graphs', 'http', 'services', 'storage', 'workers'];

test('without any extension, the tests of all layers pass', async () => {
  await expectCoreTests(LAYERS.map((name) => `test/${name}/`));
});
