import { ConfigError } from '../../src/config/errors.ts';
import { type ConfigSources, type LoadedConfig, loadConfig } from '../../src/config/load.ts';
import { project } from './project.ts';

type Sources = Omit<ConfigSources, 'cwd'> & { readonly files?: Readonly<Record<string, string>> };

/** Loads a configuration from a folder of its own, with an empty environment unless one is given. */
export async function load(yaml: string, { files = {}, ...sources }: Sources = {}): Promise<LoadedConfig> {
  await using folder = await project({ 'agent.config.yaml': yaml, ...files });
  return await loadConfig({ environment: {}, ...sources, cwd: folder.root });
}

/** The lines a configuration is refused with. */
export async function problemsOf(yaml: string, sources: Sources = {}): Promise<readonly string[]> {
  return await load(yaml, sources).then(
    () => [],
    (error: unknown) => {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    },
  );
}
