import { applyEnvironment } from '../../config/env.ts';
import { silentLogger } from '../../core/logger.ts';
import { CONFIG_FLAG, type Command, columns } from '../command.ts';
import { loadFor } from '../configured.ts';

export const check: Command = {
  name: 'check',
  summary: 'Loads the configuration and every graph, and reports each by name',
  flags: CONFIG_FLAG,
  async run(values) {
    const { config, warnings } = await loadFor(values);
    for (const warning of warnings) process.stderr.write(`agent-server: ${warning}\n`);
    applyEnvironment(config.env);
    const { loadGraphs } = await import('../../graphs/registry.ts');
    const graphs = await loadGraphs(config.graphs, { root: config.root, logger: silentLogger });
    const errors = graphs.loadErrors();
    const rows = config.graphs.map(({ graph_id, path, export: name }) => {
      const error = errors.get(graph_id);
      return error === undefined
        ? [`ok      ${graph_id}`, `${path}:${name}`]
        : [`failed  ${graph_id}`, error.message];
    });
    process.stdout.write(`${columns(rows).join('\n')}\n`);
    return errors.size === 0 ? 0 : 1;
  },
};
