import { systemClock } from '../../core/clock.ts';
import type { Finding } from '../../storage/doctor/finding.ts';
import { CONFIG_FLAG, type Command } from '../command.ts';
import { configuredStorage } from '../configured-storage.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'Examines the database beside running servers, and says what is wrong and what to do',
  flags: {
    fix: { text: 'mends what it can, and examines again' },
    json: { text: 'prints one object of JSON' },
    ...CONFIG_FLAG,
  },
  async run(values) {
    const { config, ...storage } = await configuredStorage(values);
    const { examine } = await import('../../storage/doctor/doctor.ts');
    const options = {
      ...storage,
      clock: systemClock,
      max_attempts: config.runs.max_attempts,
      max_connections: config.storage.max_connections,
      log_retention_ms: config.runs.stream_ttl_seconds * 1000,
    };
    const { findings, fixed } = await examine(options, { fix: values['fix'] !== undefined });
    const ok = findings.every(({ level }) => level !== 'problem');
    const text = values['json'] === undefined ? lines(findings, fixed) : json(ok, findings, fixed);
    process.stdout.write(text);
    return ok ? 0 : 1;
  },
};

function lines(findings: readonly Finding[], fixed: readonly Finding[]): string {
  const rows = [
    ...fixed.map(({ check, message }) => `fixed    ${check}: ${message}`),
    ...findings.map(({ level, check, message }) => `${level.padEnd(7)}  ${check}: ${message}`),
  ];
  return `${rows.length === 0 ? 'nothing found' : rows.join('\n')}\n`;
}

function json(ok: boolean, findings: readonly Finding[], fixed: readonly Finding[]): string {
  const reported = ({ check, level, message, fix }: Finding) => ({
    check,
    level,
    message,
    fixable: fix !== undefined,
  });
  return `${JSON.stringify({ ok, findings: findings.map(reported), fixed: fixed.map(reported) }, null, 2)}\n`;
}
