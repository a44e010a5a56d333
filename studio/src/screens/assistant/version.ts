import type { Assistant } from '../../api/assistants.ts';
import type { Schemas } from '../../api/client.ts';

export type Version = Schemas['AssistantVersion'];

/** What a version is of, without its number and time. Configurable values are those of the context. */
export function contentOf({ name, description, graph_id, config, context, metadata }: Version) {
  const { configurable: _, ...rest } = config;
  return { name, description, graph_id, context, config: rest, metadata };
}

/**
 * How a run gets the settings of a version: runs of an assistant have those of its newest one, so that it is a run of the
 * graph's own assistant that brings them along. `leaks` are settings of `own`, that assistant, that the version does not have.
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
