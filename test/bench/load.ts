export interface Load {
  /** Requests under way at any time; each is followed by the next one. */
  readonly concurrency: number;
  /** Requests in all. */
  readonly count: number;
  readonly request: (index: number) => Promise<unknown>;
}

export interface Measured {
  readonly latencies_ms: number[];
  readonly wall_ms: number;
}

/** Sends `count` requests, `concurrency` at a time, and measures each from its sending to its last byte. */
export async function measureLoad({ concurrency, count, request }: Load): Promise<Measured> {
  const latencies_ms: number[] = [];
  let next = 0;
  const client = async () => {
    while (next < count) {
      const started = performance.now();
      await request(next++);
      latencies_ms.push(performance.now() - started);
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: concurrency }, client));
  return { latencies_ms, wall_ms: performance.now() - started };
}
