import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { activeSpans } from '../../src/graphs/steps/active-spans.ts';

const SPAN = { trace_id: '1'.repeat(32), span_id: '2'.repeat(16), sampled: true };
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

test('an SDK whose API the project cannot load leaves a run without active spans', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'active-spans-'));
  const api = join(folder, 'node_modules/@opentelemetry/api');
  await mkdir(api, { recursive: true });
  await writeFile(join(api, 'package.json'), '{"name":"@opentelemetry/api","main":"index.js"}');
  await writeFile(join(api, 'index.js'), 'throw new Error("missing");\n');
  const before = Reflect.get(globalThis, REGISTERED);
  Reflect.set(globalThis, REGISTERED, { context: {} });
  try {
    expect(await activeSpans(folder, SPAN)).toBeUndefined();
  } finally {
    if (before === undefined) Reflect.deleteProperty(globalThis, REGISTERED);
    else Reflect.set(globalThis, REGISTERED, before);
  }
});
