import { EXTENSIONS } from '../extensions/index.ts';
import { configFile } from './schema.ts';

/** The whole configuration file: the keys of the core and those of every extension. */
export const ConfigFile = configFile(EXTENSIONS.flatMap(({ sections = [] }) => sections));
