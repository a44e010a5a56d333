import { systemClock } from '../../../core/clock.ts';
import { clockSkew } from './clock.ts';
import { overdue } from './crons.ts';
import type { Finding, QuickCheck, QuickContext } from './finding.ts';
import { expiringKeys } from './keys.ts';
import { postgresChecks } from './postgres.ts';
import { unclaimed } from './runs.ts';
import { missingIndexes } from './schema.ts';
import { sqliteChecks } from './sqlite.ts';

/** Checks of both engines that cost milliseconds, however many rows there are. */
const QUICK_CHECKS: readonly QuickCheck[] = [missingIndexes, clockSkew, unclaimed, overdue, expiringKeys];

/** Findings that need no scan of whole tables, for a running server. */
export async function quickFindings(context: Omit<QuickContext, 'is_served' | 'now'>): Promise<Finding[]> {
  const { dialect } = context.db;
  const findings: Finding[] = [];
  for (const check of [...(dialect === 'sqlite' ? sqliteChecks : postgresChecks), ...QUICK_CHECKS])
    findings.push(...(await check({ ...context, is_served: true, now: () => systemClock.now() })));
  return findings;
}
