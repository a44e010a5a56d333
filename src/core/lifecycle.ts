/** What is made when it is first asked for. */
export interface Lazy<T> {
  (): Promise<T>;
  /** Undefined until it was asked for, and after a failure. */
  readonly made: Promise<T> | undefined;
}

/** Makes something once for all who ask. A failure is told to those who wait for it, and the next one tries again. */
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

/**
 * Closes each part in order, whatever becomes of the others. Then throws the error that there was, or an
 * `AggregateError` with all of them.
 */
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
