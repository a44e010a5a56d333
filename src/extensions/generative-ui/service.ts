import type { Actor } from '../../auth/actor.ts';
import { NotFound } from '../../core/errors.ts';
import { isUuid } from '../../core/ids.ts';
import type { AssistantService } from '../../services/assistants/assistants.ts';
import type { UiAsset, UiBundle } from './bundle.ts';
import type { UiBundles } from './bundle-cache.ts';

export type UiService = ReturnType<typeof uiService>;

/** Components of generative user interfaces (contract §2.9). */
export function uiService(bundles: UiBundles, assistants: AssistantService) {
  /** The official server knows configured names only; clients also send an assistant id. */
  async function nameOf(actor: Actor, id: string): Promise<string> {
    return isUuid(id) && !bundles.names.includes(id) ? (await assistants.get(actor, id)).graph_id : id;
  }

  async function bundleOf(name: string): Promise<UiBundle> {
    const bundle = await bundles.get(name);
    if (!bundle) throw new NotFound(`UI '${name}' not found. ${configuredNames(bundles.names)}`);
    return bundle;
  }

  return {
    /** The bundle of a configured name, or of the assistant's graph. */
    async find(actor: Actor, id: string): Promise<UiBundle> {
      return await bundleOf(await nameOf(actor, id));
    },

    /** A file of a bundle. Public: a page that loads a script cannot send a key. */
    async asset(name: string, file: string): Promise<UiAsset> {
      const { assets } = await bundleOf(name);
      const asset = assets.find((each) => each.file === file);
      if (!asset) throw new NotFound(`The UI '${name}' has no file '${file}'`);
      return asset;
    },
  };
}

function configuredNames(names: readonly string[]): string {
  if (names.length === 0) return 'Add its file under "ui" in the configuration.';
  return `Configured: ${names.map((name) => `'${name}'`).join(', ')}`;
}
