import { expect, test } from 'vitest';
import { openExtensions } from '../../src/app/extensions.ts';
import type { Config } from '../../src/config/schema.ts';
import type { Contribution, Core, Extension } from '../../src/extensions/extension.ts';
import { Riders } from '../../src/storage/riders.ts';
import { recordingLogger } from '../support/recording-logger.ts';

const config = { server: { role: 'all' } } as Config;
const core = {
  storage: { riders: new Riders([]) },
  logger: recordingLogger('error', () => {}),
} as unknown as Core;

/** An extension with these parts; `closed` gets its name when it is disposed. */
function extension(name: string, parts: Contribution, closed: string[], page?: Extension['page']): Extension {
  const dispose = { [Symbol.asyncDispose]: async () => void closed.push(name) };
  const load = async () => () => ({ ...dispose, ...parts });
  return { name, isEnabled: () => true, load, ...(page && { page }) };
}

test.each<[string, Contribution, Extension['page']?]>([
  ['observer', { observer: { has_contents: false, onRecorded: () => {} } as never }],
  ['attempt', { attempt: () => undefined }],
  ['dispatch', { dispatch: { request: () => false, upgrade: () => false } }],
  ['page', {}, () => '/pages'],
])('two extensions that have "%s" are refused by name, and closed', async (part, parts, page) => {
  const closed: string[] = [];
  const [first, second] = ['first', 'second'].map((name) => extension(name, parts, closed, page));
  const other = extension('other', {}, closed);
  await using alone = await openExtensions(config, core, [first as Extension, other]);
  expect(Object.values(alone)).toContain(Object.values(parts)[0] ?? page?.(config));
  expect(closed).toEqual([]);

  const both = openExtensions(config, core, [first as Extension, other, second as Extension]);
  await expect(both).rejects.toThrow(new RegExp(`"${part}".*: first, second$`));
  expect(closed).toEqual(['first', 'other', 'second']);
});

test('an extension that cannot be opened is reported, even if closing those before it fails too', async () => {
  const closed: string[] = [];
  const opened = extension('opened', {}, closed);
  const stuck = extension(
    'stuck',
    { [Symbol.asyncDispose]: () => Promise.reject(new Error('stuck')) },
    closed,
  );
  const failing: Extension = { ...opened, load: () => Promise.reject(new Error('cannot be opened')) };
  await expect(openExtensions(config, core, [stuck, opened, failing])).rejects.toThrow('cannot be opened');
  expect(closed).toEqual(['opened']);
});
