import type { Config } from '../config/schema.ts';
import type { Core, Extension } from '../extensions/extension.ts';
import { EXTENSIONS } from '../extensions/index.ts';
import type { ServerDeps } from '../http/server-deps.ts';

type Extended = NonNullable<ServerDeps['extensions']>;

/** Loads the extensions that the configuration enables. */
export async function openExtensions(config: Config, core: Core): Promise<Extended> {
  const isOn = (extension: Extension) => extension.isEnabled(config);
  const opened = await Promise.all(EXTENSIONS.filter(isOn).map((extension) => extension.load()));
  const off = EXTENSIONS.filter((extension) => !isOn(extension));
  return {
    routes: opened.flatMap((open) => open(core).routes ?? []),
    offAnswer: (path) => off.map((extension) => extension.offAnswer?.(path)).find((answer) => answer),
  };
}
