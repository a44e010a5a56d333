/** The result of work that may hang, or an error when it takes longer than `limit_ms`. The work itself goes on. */
export async function within<T>(limit_ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`it took longer than ${limit_ms / 1000} s`)), limit_ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
