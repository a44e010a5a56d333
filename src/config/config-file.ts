import { EXTENSIONS } from '../extensions/index.ts';
import { VARIABLES, type Variable } from './env.ts';
import { configFile } from './schema.ts';

/** The whole configuration file: the keys of the core and those of every extension. */
export const ConfigFile = configFile({
  sections: EXTENSIONS.flatMap(({ sections = [] }) => sections),
  checkTogether: (config) => EXTENSIONS.flatMap((each) => each.checkTogether?.(config) ?? []),
  servesWithoutGraphs,
});

/** The variables of the core and of every extension. */
export const ALL_VARIABLES: readonly Variable[] = [
  ...VARIABLES,
  ...EXTENSIONS.flatMap(({ variables = [] }) => variables),
];

/** Whether a server with this configuration, as written or complete, needs no graphs of its own. */
export function servesWithoutGraphs(config: object): boolean {
  return EXTENSIONS.some((each) => each.servesWithoutGraphs?.(config));
}
