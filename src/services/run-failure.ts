import { isObject } from '../core/json.ts';

/** Why a run failed, in one line, from the data of its `error` event. */
export function failureOf(error: unknown): string {
  if (!isObject(error)) return 'The run failed.';
  return `${error['error'] ?? 'Error'}: ${error['message'] ?? 'the run failed'}`;
}
