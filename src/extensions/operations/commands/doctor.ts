import { CONFIG_FLAG, type Command } from '../../../cli/command.ts';
import { configuredDeployments, configuredStorage } from '../../../cli/configured-storage.ts';
import type { Config } from '../../../config/schema.ts';
import { systemClock } from '../../../core/clock.ts';
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
    const { config, ...storage } = await configuredStorage(values);
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
    for (const { name, url } of isUsable ? await configuredDeployments(config) : []) {
      const { max_connections } = config.deployments;
      all.push({ deployment: name, ...(await examine({ ...options, url, max_connections }, { fix })) });
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

/** Diagnosis of the server's own database, or of a deployment's. */
interface Examined extends Diagnosis {
  readonly deployment?: string;
}

interface Found extends Finding {
  readonly deployment?: string;
}

const found = (all: readonly Examined[], which: 'findings' | 'fixed'): Found[] =>
  all.flatMap(({ deployment, [which]: findings }) =>
    findings.map((finding) => (deployment === undefined ? finding : { deployment, ...finding })),
  );

const whereOf = ({ deployment, check }: Found) =>
  deployment === undefined ? check : `deployment ${deployment}, ${check}`;

function lines(findings: readonly Found[], fixed: readonly Found[]): string {
  const rows = [
    ...fixed.map((finding) => `fixed    ${whereOf(finding)}: ${finding.message}`),
    ...findings.map((finding) => `${finding.level.padEnd(7)}  ${whereOf(finding)}: ${finding.message}`),
  ];
  return `${rows.length === 0 ? 'nothing found' : rows.join('\n')}\n`;
}

function json(ok: boolean, findings: readonly Found[], fixed: readonly Found[]): string {
  const reported = ({ deployment, check, level, message, fix }: Found) => ({
    ...(deployment !== undefined && { deployment }),
    check,
    level,
    message,
    fixable: fix !== undefined,
  });
  return `${JSON.stringify({ ok, findings: findings.map(reported), fixed: fixed.map(reported) }, null, 2)}\n`;
}
