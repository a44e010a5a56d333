import { z } from 'zod';
import { Bytes } from '../../../hosts/protocol/wire-types.ts';

/** Methods of a host: style sheets may execute code of the project. */
export const HOST_METHODS = {
  'generative-ui/bundle': {
    params: z.object({ name: z.string(), path: z.string(), shared: z.array(z.string()) }),
    result: z.object({
      name: z.string(),
      global: z.string(),
      assets: z.array(z.object({ file: z.string(), type: z.string(), content: Bytes, etag: z.string() })),
      inputs: z.array(z.object({ file: z.string(), bytes: z.number() })),
    }),
  },
} as const;
