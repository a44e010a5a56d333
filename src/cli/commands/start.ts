import { ADDRESS_FLAGS, CONFIG_FLAG, type Command } from '../command.ts';
import { configured } from '../configured.ts';

export const start: Command = {
  name: 'start',
  summary: 'Serves the graphs of the configuration',
  flags: { ...CONFIG_FLAG, ...ADDRESS_FLAGS },
  async run(values) {
    const { config, logger } = await configured(values, { json: true });
    const { serve } = await import('../../node.ts');
    return await serve(config, { logger, grace_ms: config.runs.shutdown_grace_seconds * 1000 });
  },
};
