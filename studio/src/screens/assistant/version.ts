import type { Assistant } from '../../api/assistants.ts';
import type { Schemas } from '../../api/client.ts';

export type Version = Schemas['AssistantVersion'];

/** The content of a version, without its number and time. Configurable values equal the context. */
export function contentOf({ name, description, graph_id, config, context, metadata }: Version) {
  const { configurable: _, ...rest } = config;
  return { name, description, graph_id, context, config: rest, metadata };
}

/**
 * How to run a version: runs of an assistant always use its latest one, so this is a run of the graph's default assistant,
 * `own`, with the settings of the version. `leaks` are settings of `own` that the version does not have.
 */
export function settingsOf(version: Version, own?: Assistant) {
  const { graph_id, context, config } = contentOf(version);
  return {
    run: {
      assistant_id: graph_id,
      ...(Object.keys(context).length > 0 && { context }),
      ...(Object.keys(config).length > 0 && { config }),
    },
    leaks: Object.keys(own?.context ?? {}).filter((name) => !(name in context)),
  };
}
