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
