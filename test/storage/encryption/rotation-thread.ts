import { parentPort, workerData } from 'node:worker_threads';
import { openKeyRotation } from '../../../src/storage/storage.ts';
import { testSealer } from '../../support/encryption.ts';

/** Database, current key and keys before it. */
export interface RotationData {
  readonly url: string;
  readonly key: string;
  readonly fallback: readonly string[];
}

/** A rotation in a thread of its own, as it has a process of its own: waiting for a SQLite lock blocks a thread. */
const { url, key, fallback } = workerData as RotationData;
await using encryption = await openKeyRotation({ url, encryptor: testSealer(key, fallback) });
parentPort?.postMessage(await encryption.rotate({ onTable: () => {} }));
