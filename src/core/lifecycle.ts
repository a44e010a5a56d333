/** A value that is created on first use. */
export interface Lazy<T> {
  (): Promise<T>;
  /** `undefined` before the first use and after a failure. */
  readonly made: Promise<T> | undefined;
}

/** Memoises `make`. A failure rejects its current callers, and the next call retries. */
export function lazy<T>(make: () => Promise<T>): Lazy<T> {
  let made: Promise<T> | undefined;
  const get = () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
  return Object.defineProperty(get, 'made', { get: () => made }) as Lazy<T>;
}

/** Closes all parts in order, even if some fail. Then throws the error, or an `AggregateError` of several. */
export async function closeAll(parts: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const close of parts) {
    try {
      await close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join('; '));
}
