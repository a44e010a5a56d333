import { expect, test } from 'vitest';
import { WaitingForHost } from '../../src/hosts/pool/waiting.ts';

test('work that starts waiting after a notification gets a host at the next one', async () => {
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

test('a failing search for a host fails only its own work', async () => {
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
