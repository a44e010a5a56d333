import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/logger.ts';
import type { UiBundle, UiSource } from './bundle.ts';
import { areUnchanged } from './bundle-inputs.ts';

export interface UiBundles {
  readonly names: readonly string[];
  /** The bundle of the current files. Returns `undefined` for an unknown name; throws `UiBuildError`. */
  get(name: string): Promise<UiBundle | undefined>;
}

/** Bundles components, in this process or in another. Throws `UiBuildError`, or an error with its status. */
export type BundleUi = (source: UiSource) => Promise<UiBundle>;

export interface UiOptions extends Pick<UiSource, 'root' | 'shared'> {
  /** Files by name. */
  readonly paths: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly bundleUi: BundleUi;
}

/** Builds a bundle on the first request, and again when one of its files has changed. */
export function uiBundles({ paths, root, shared, clock, logger, bundleUi }: UiOptions): UiBundles {
  const sources = new Map(Object.entries(paths).map(([name, path]) => [name, { name, path, root, shared }]));
  const built = new Map<string, { bundle: UiBundle; begun_at: number }>();
  const building = new Map<string, Promise<UiBundle>>();

  async function build(source: UiSource): Promise<UiBundle> {
    const { name } = source;
    const begun_at = clock.now();
    try {
      const bundle = await bundleUi(source);
      built.set(name, { bundle, begun_at });
      return bundle;
    } catch (error) {
      built.delete(name);
      if (error instanceof Error) logger.error(error.message, { ui: name });
      throw error;
    } finally {
      building.delete(name);
    }
  }

  return {
    names: [...sources.keys()],
    async get(name) {
      const source = sources.get(name);
      if (!source) return undefined;
      const cached = built.get(name);
      if (cached && (await areUnchanged(cached.bundle.inputs, cached.begun_at))) return cached.bundle;
      const making = building.get(name) ?? build(source);
      building.set(name, making);
      return making;
    },
  };
}
