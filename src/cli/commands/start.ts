import { ADDRESS_FLAGS, CONFIG_FLAG, type Command, ROLE_FLAG } from '../command.ts';
import { loadConfigAndOutput, SERVING_DEFAULTS } from '../config.ts';

export const start: Command = {
  name: 'start',
  summary: 'Serves the graphs of the configuration',
  flags: { ...CONFIG_FLAG, ...ADDRESS_FLAGS, ...ROLE_FLAG },
  async run(values) {
    // Readable lines on a terminal, JSON otherwise.
    const { config, logger, recent_log, announce } = await loadConfigAndOutput(values, {
      json: !process.stdout.isTTY,
      keys: SERVING_DEFAULTS,
    });
    const { serve } = await import('../../node.ts');
    return await serve(config, {
      logger,
      recent_log,
      announce,
      grace_ms: config.runs.shutdown_grace_seconds * 1000,
    });
  },
};
