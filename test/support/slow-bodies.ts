import { request } from 'node:http';
import { expect } from 'vitest';
import { until } from './until.ts';

const MB = 1024 ** 2;
/** Size of a body, bytes, which the buffers on its way cannot take. */
export const LARGE = 64 * MB;
/** More than these buffers take. */
export const HELD_BACK = 24 * MB;

/** Waits until a count no longer grows; resolves to it. */
export async function standstill(count: () => number | Promise<number>): Promise<number> {
  let last = -1;
  let same = 0;
  await until('nothing moves any more', async () => {
    const now = await count();
    same = now === last ? same + 1 : 0;
    last = now;
    return now > 0 && same === 20;
  });
  return last;
}

/** Uploads to the app of `streams.ts`, which reads a part only, and the rest after the upload has come to a halt. */
export async function uploadSlowly(url: string): Promise<void> {
  await fetch(`${url}/own/close`, { method: 'POST' });
  const upload = request(`${url}/own/upload`, { method: 'POST' });
  const answer = new Promise<string>((found, failed) => {
    upload.on('error', failed).on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += chunk;
      found(text);
    });
  });
  for (let sent = 0; sent < LARGE; sent += MB) upload.write(Buffer.alloc(MB));
  upload.end();
  const bytes = await standstill(() => upload.socket?.bytesWritten ?? 0);
  expect(bytes - (upload.socket?.writableLength ?? 0)).toBeLessThan(HELD_BACK);
  await fetch(`${url}/own/open`, { method: 'POST' });
  expect(JSON.parse(await answer)).toEqual({ received: LARGE });
}
