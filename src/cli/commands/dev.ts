import { ADDRESS_FLAGS, CONFIG_FLAG, type Command } from '../command.ts';
import { DEVELOPING_DEFAULTS, loadConfigFor, outputFor } from '../config.ts';

export const dev: Command = {
  name: 'dev',
  summary: 'Serves the graphs, and loads their files again when they change; data is kept',
  flags: { ...CONFIG_FLAG, ...ADDRESS_FLAGS },
  async run(values) {
    const loaded = await loadConfigFor(values, DEVELOPING_DEFAULTS);
    const [{ logger }, { develop }] = await Promise.all([
      outputFor(loaded.config, { json: false }),
      import('../dev/develop.ts'),
    ]);
    return await develop(values, loaded, logger);
  },
};
