import { z } from 'zod';
import { Name } from '../../schemas/bounds.ts';
import { nameRequests } from '../../schemas/named.ts';

export const UiPath = z.object({
  assistant_id: Name.meta({
    description: 'A name under `ui` in the configuration, or the id of an assistant for the UI of its graph.',
    examples: ['research'],
  }),
});

export const UiAssetPath = z.object({
  assistant_id: Name.meta({
    description: 'A name under `ui` in the configuration.',
    examples: ['research'],
  }),
  file: Name.meta({ description: 'A file that the HTML refers to.', examples: ['entrypoint.js'] }),
});
export type UiAssetPath = z.infer<typeof UiAssetPath>;

export const UiComponent = z.looseObject({
  name: Name.min(1).meta({ description: 'The name of the component in the default export.' }),
});
export type UiComponent = z.infer<typeof UiComponent>;

nameRequests({ UiComponent });
