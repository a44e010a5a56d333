import { applyEnvironment } from '../../config/env.ts';
import type { Config } from '../../config/schema.ts';
import { silentLogger } from '../../core/logger.ts';
import { CONFIG_FLAG, type Command, columns } from '../command.ts';
import { loadFor } from '../configured.ts';

export const check: Command = {
  name: 'check',
  summary:
    'Loads the configuration, every graph, every UI, the embeddings and the encryption, and reports each by name',
  flags: CONFIG_FLAG,
  async run(values) {
    const { config, warnings } = await loadFor(values);
    for (const warning of warnings) process.stderr.write(`agent-server: ${warning}\n`);
    applyEnvironment(config.env);
    const { loadGraphs } = await import('../../graphs/registry.ts');
    const graphs = await loadGraphs(config.graphs, { root: config.root, logger: silentLogger });
    const errors = graphs.loadErrors();
    const checked = [
      ...config.graphs.map(({ graph_id, path, export: name }) => ({
        name: graph_id,
        file: `${path}:${name}`,
        error: errors.get(graph_id),
      })),
      ...(await checkUis(config)),
      ...(await checkEmbedder(config)),
      ...(await checkEncryption(config)),
    ];
    const rows = checked.map(({ name, file, error }) =>
      error ? [`failed  ${name}`, error.message] : [`ok      ${name}`, file],
    );
    process.stdout.write(`${columns(rows).join('\n')}\n`);
    return checked.every(({ error }) => error === undefined) ? 0 : 1;
  },
};

async function checkUis({ ui, ui_config, root }: Config) {
  const { UiBuildError } = await import('../../graphs/ui/build-error.ts');
  const { bundleUi } = await import('../../graphs/ui/bundle.ts');
  const checks = Object.entries(ui).map(async ([name, path]) => {
    const error = await bundleUi({ name, path, root, shared: ui_config.shared }).then(
      () => undefined,
      (reason: unknown) => {
        if (reason instanceof UiBuildError) return reason;
        throw reason;
      },
    );
    return { name: `ui ${name}`, file: path, error };
  });
  return await Promise.all(checks);
}

async function checkEmbedder({ store: { index }, root }: Config) {
  if (!index) return [];
  const { loadEmbedder } = await import('../../graphs/embedder.ts');
  const error = await loadEmbedder({ ...index, root }).then(
    () => undefined,
    (reason: Error) => reason,
  );
  return [{ name: 'store.index', file: index.embed, error }];
}

async function checkEncryption(config: Config) {
  const { openSealer } = await import('../../app/encryption.ts');
  const sealed = await openSealer(config).catch((reason: Error) => reason);
  if (sealed === undefined) return [];
  const { path } = config.encryption;
  const error = sealed instanceof Error ? sealed : undefined;
  // What is in every sealed value says nothing of the key, and whether two servers have the same.
  const file =
    sealed instanceof Error || path !== undefined ? (path ?? '') : `AES-256-GCM, key ${sealed.mark}`;
  return [{ name: 'encryption', file, error }];
}
