import { OWNED_DATA } from '../../src/app/extensions.ts';
import type { Encryptor } from '../../src/db/encryption/cipher.ts';
import { openStorage, type Storage } from '../../src/storage/storage.ts';
import { at, freshThread, newState, threadId } from './stored-threads.ts';

/** Short members, and a long one. */
export const STATE = {
  topic: 'fish',
  tags: ['a', 'b'],
  user: { name: 'Ada', age: 36 },
  log: 'long'.repeat(100),
};

/** Opens the storage at an address for as long as it is used. */
export async function within(
  url: string,
  sealer: Encryptor | undefined,
  use: (storage: Storage) => Promise<void>,
): Promise<void> {
  await using storage = await openStorage({
    url,
    owned: OWNED_DATA,
    synchronous: 'normal',
    encryptor: sealer,
  });
  await use(storage);
}

/** A thread with that state and a checkpoint. */
export async function remember({ threads, checkpoints }: Storage, n: number): Promise<void> {
  const thread_id = threadId(n);
  await threads.insert(freshThread(n));
  await threads.setState(thread_id, newState(STATE), at(1));
  const value = Buffer.from('"x"');
  const checkpoint = {
    thread_id,
    ns: '',
    checkpoint_id: 'c1',
    parent_id: null,
    run_id: null,
    checkpoint: '{"v":4}',
    versions: '{"topic":"1"}',
    metadata: JSON.stringify({ thread_id, source: 'loop' }),
    blobs: [{ channel: 'topic', version: '1', base_version: null, appends: 0, type: 'json', value }],
  };
  await checkpoints.put({ idle_thread_id: thread_id }, checkpoint, 'sync');
}

/** The metadata of its checkpoints that can be read with their value. */
export async function checkpointsOf({ checkpoints }: Storage, thread_id: string, metadata?: object) {
  const found = await checkpoints.find({ thread_id, metadata: metadata as Record<string, unknown> });
  const whole = found.filter(
    (each) => Buffer.from(each.value('topic', '1')?.bytes ?? []).toString() === '"x"',
  );
  return whole.map((each) => JSON.parse(each.metadata));
}
