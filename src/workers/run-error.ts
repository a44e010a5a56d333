import { ServerError } from '../core/errors.ts';

/** A failure of storage, not of the graph: the same attempt may succeed later. */
export function isInfrastructure(failure: unknown): boolean {
  return failure instanceof ServerError && (failure.status === 503 || failure.status === 507);
}
