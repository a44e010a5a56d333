import { MAX_MESSAGE_BYTES } from '../../../hosts/protocol/frames.ts';
import type { HostPart } from '../../extension.ts';
import { bundleUi, UiBuildError } from '../bundle.ts';
import { HOST_METHODS } from './messages.ts';

/** One message, which also names the files. */
const MAX_BUNDLE_BYTES = MAX_MESSAGE_BYTES - 4 * 1024 * 1024;

/** Bundles components for the server. */
export const bundlerInHost: HostPart = async ({ root, server }) => {
  const handlers = {
    async 'generative-ui/bundle'(source: { name: string; path: string; shared: string[] }) {
      const { assets, inputs, ...bundle } = await bundleUi({ ...source, root });
      const bytes = assets.reduce((sum, { content }) => sum + content.length, 0);
      if (bytes > MAX_BUNDLE_BYTES) {
        const limit = `the limit of ${MAX_BUNDLE_BYTES} for bundles of graph hosts`;
        throw new UiBuildError(`UI '${source.name}' does not build: its ${bytes} bytes exceed ${limit}`);
      }
      return { ...bundle, assets: [...assets], inputs: [...inputs] };
    },
  };
  server.extend({ ours: HOST_METHODS, theirs: {}, handlers });
};
