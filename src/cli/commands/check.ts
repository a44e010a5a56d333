import { applyEnvironment } from '../../config/env.ts';
import { CONFIG_FLAG, type Command, columns } from '../command.ts';
import { loadFor } from '../configured.ts';
import { checkProject } from '../project-checks.ts';

export const check: Command = {
  name: 'check',
  summary: 'Loads the configuration and what it names, every graph first, and reports each by name',
  flags: CONFIG_FLAG,
  async run(values) {
    const { config, warnings } = await loadFor(values);
    for (const warning of warnings) process.stderr.write(`agent-server: ${warning}\n`);
    applyEnvironment(config.env);
    const checked = await checkProject(config);
    const rows = checked.flatMap(({ name, file, error, note }) => [
      error ? [`failed  ${name}`, error.message] : [`ok      ${name}`, file],
      ...(note === undefined ? [] : [[`note    ${name}`, note]]),
    ]);
    process.stdout.write(`${columns(rows).join('\n')}\n`);
    return checked.every(({ error }) => error === undefined) ? 0 : 1;
  },
};
