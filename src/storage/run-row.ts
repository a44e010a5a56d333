import type { Run } from '../schemas/runs.ts';
import type { Cipher } from './encryption/cipher.ts';
import { openJson } from './encryption/open-row.ts';
import { decode } from './json.ts';

/** What they are sealed as. */
export const KWARGS = 'runs.kwargs';
export const RUN_ERROR = 'runs.error';

/** A row of `runs` with its JSON as values. */
export function runOf<Row extends Pick<Run, 'metadata' | 'kwargs'>>(cipher: Cipher, row: Row): Row {
  return openJson<Pick<Run, 'metadata' | 'kwargs'>>(cipher, decode(row, ['metadata']), {
    kwargs: KWARGS,
  }) as Row;
}
