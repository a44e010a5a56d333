import { CONFIG_FLAG, type Command } from '../../../cli/command.ts';
import { configuredStorage } from '../../../cli/configured-storage.ts';
import type { Config } from '../../../config/schema.ts';
import { systemClock } from '../../../core/clock.ts';
import type { OwnedDatabase } from '../../extension.ts';
import type { Diagnosis } from '../doctor/doctor.ts';
import type { Finding } from '../doctor/finding.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Examines the database, even while servers run, and reports what is wrong and how to fix it',
  flags: {
    fix: { text: 'fixes what it can, and examines again' },
    json: { text: 'prints one JSON object' },
    ...CONFIG_FLAG,
  },
  async run(values) {
    const { config, databases, ...storage } = await configuredStorage(values);
    const { examine } = await import('../doctor/doctor.ts');
    const options = {
      ...storage,
      clock: systemClock,
      max_attempts: config.runs.max_attempts,
      max_connections: config.storage.max_connections,
      log_retention_ms: config.runs.stream_ttl_seconds * 1000,
      give_up_ms: config.webhooks.delivery.give_up_hours * 3_600_000,
    };
    const fix = values['fix'] !== undefined;
    const own = await examine(options, { fix });
    const all: Examined[] = [{ findings: await projectFindings(config), fixed: [] }, own];
    // An unusable database is already a finding.
    const isUsable = own.findings.every(({ check, level }) => check !== 'database' || level !== 'problem');
    for (const database of isUsable ? await databases() : []) {
      const { url, max_connections } = database;
      all.push({ database, ...(await examine({ ...options, url, max_connections }, { fix })) });
    }
    const [findings, fixed] = [found(all, 'findings'), found(all, 'fixed')];
    const ok = findings.every(({ level }) => level !== 'problem');
    const text = values['json'] === undefined ? lines(findings, fixed) : json(ok, findings, fixed);
    process.stdout.write(text);
    return ok ? 0 : 1;
  },
};

async function projectFindings(config: Config): Promise<Finding[]> {
  const { projectWarnings } = await import('../../../graphs/project/project-warnings.ts');
  const warnings = await projectWarnings(config);
  return warnings.map((message) => ({ check: 'project', level: 'notice', message }));
}

/** Diagnosis of the server's own database, or of one that an extension has in addition. */
interface Examined extends Diagnosis {
  readonly database?: OwnedDatabase;
}

interface Found extends Finding {
  readonly database?: OwnedDatabase;
}

const found = (all: readonly Examined[], which: 'findings' | 'fixed'): Found[] =>
  all.flatMap(({ database, [which]: findings }) =>
    findings.map((finding) => (database === undefined ? finding : { database, ...finding })),
  );

const whereOf = ({ database, check }: Found) =>
  database === undefined ? check : `${database.kind} ${database.name}, ${check}`;

function lines(findings: readonly Found[], fixed: readonly Found[]): string {
  const rows = [
    ...fixed.map((finding) => `fixed    ${whereOf(finding)}: ${finding.message}`),
    ...findings.map((finding) => `${finding.level.padEnd(7)}  ${whereOf(finding)}: ${finding.message}`),
  ];
  return `${rows.length === 0 ? 'nothing found' : rows.join('\n')}\n`;
}

function json(ok: boolean, findings: readonly Found[], fixed: readonly Found[]): string {
  const reported = ({ database, check, level, message, fix }: Found) => ({
    ...(database !== undefined && { [database.kind]: database.name }),
    check,
    level,
    message,
    fixable: fix !== undefined,
  });
  return `${JSON.stringify({ ok, findings: findings.map(reported), fixed: fixed.map(reported) }, null, 2)}\n`;
}
