import { resolve } from 'node:path';
import type { FaultName } from '../chaos/faults/faults.ts';

const APPLY = resolve(import.meta.dirname, '../chaos/faults/apply.ts');

/** For all servers of a run of tests: what `npm run chaos` switches off, to see its test fail. */
const FAULT_OF_RUN = process.env['CHAOS_FAULT'] as FaultName | undefined;

/** Environment of a server with these faults and that of the run. */
export function withFaults(...names: readonly FaultName[]): Readonly<Record<string, string>> {
  const all = FAULT_OF_RUN ? [...names, FAULT_OF_RUN] : names;
  if (all.length === 0) return {};
  return { NODE_OPTIONS: `--import ${APPLY}`, CHAOS_FAULTS: JSON.stringify(all) };
}
