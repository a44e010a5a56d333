import { type Asking, askHost, WORK_LIMITS } from '../../../hosts/pool/ask.ts';
import type { Host } from '../../../hosts/pool/host.ts';
import type { BundleUi } from '../bundle-cache.ts';
import { HOST_METHODS } from './messages.ts';

/** Bundles components in the hosts. */
export function remoteBundler(asking: Asking): BundleUi {
  return ({ name, path, shared }) => {
    const ask = ({ peer }: Host) =>
      peer
        .extend({ ours: {}, theirs: HOST_METHODS, handlers: {} })
        .request('generative-ui/bundle', { name, path, shared: [...shared] });
    return askHost(asking, `The bundler of '${name}'`, ask, WORK_LIMITS);
  };
}
