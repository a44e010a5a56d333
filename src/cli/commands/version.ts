import { VERSION } from '../../config/version.ts';
import type { Command } from '../command.ts';

export const version: Command = {
  name: 'version',
  summary: 'Prints the version',
  flags: {},
  async run() {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  },
};
