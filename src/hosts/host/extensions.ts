import type { HostPart } from '../../extensions/extension.ts';
import { EXTENSIONS } from '../../extensions/index.ts';
import { toWireError } from '../protocol/errors.ts';
import type { HostMethods, Params, Result } from '../protocol/messages.ts';
import type { ServerConnection } from './connection.ts';

/**
 * Has the extensions that the server names load what they need of the project, one after the other: they may share modules.
 * Returns why the project's code could not be loaded, by extension.
 */
export async function openExtensions(
  { root, extensions = {} }: Params<HostMethods, 'initialize'>,
  server: ServerConnection,
): Promise<Result<HostMethods, 'initialize'>['project_errors']> {
  const errors: Result<HostMethods, 'initialize'>['project_errors'] = {};
  for (const { name, loadInHost } of EXTENSIONS) {
    if (!loadInHost || !Object.hasOwn(extensions, name)) continue;
    const open: HostPart = await loadInHost();
    await open({ root, server }, extensions[name]).catch((error: unknown) => {
      errors[name] = toWireError(error);
    });
  }
  return errors;
}
