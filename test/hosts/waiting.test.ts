import { expect, test } from 'vitest';
import { WaitingForHost } from '../../src/hosts/pool/waiting.ts';

test('work that begins to wait after a notification without waiters is found a host by the next one', async () => {
  const waiting = new WaitingForHost<string>();
  waiting.notify();
  let host: string | undefined;
  const found = waiting.whenFound(
    () => host,
    () => undefined,
  );
  host = 'host 1';
  waiting.notify();
  expect(await found).toBe('host 1');
});

test('a search for a host that throws fails its own work, and the next one finds a host', async () => {
  const waiting = new WaitingForHost<string>();
  let isBroken = false;
  let host: string | undefined;
  const broken = waiting.whenFound(
    () => {
      if (isBroken) throw new Error('broken');
      return undefined;
    },
    () => undefined,
  );
  const found = waiting.whenFound(
    () => host,
    () => undefined,
  );
  [isBroken, host] = [true, 'host 1'];
  waiting.notify();
  await expect(broken).rejects.toThrow('broken');
  expect(await found).toBe('host 1');
});
