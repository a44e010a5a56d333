import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchServer } from './bench-server.ts';

/** Asks for health all the time: how long each answer takes, ms. */
export function watchHealth(server: BenchServer) {
  const latencies: number[] = [];
  let isOver = false;
  async function watch(): Promise<void> {
    while (!isOver) {
      const asked = performance.now();
      await server.http.call('GET', '/ok');
      latencies.push(performance.now() - asked);
      await sleep(20);
    }
  }
  const watching = watch();
  return {
    async stop(): Promise<number[]> {
      isOver = true;
      await watching;
      return latencies;
    },
  };
}
