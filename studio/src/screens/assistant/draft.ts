import type { Assistant } from '../../api/assistants.ts';
import type { Schemas } from '../../api/client.ts';
import { typedJson } from '../../ui/json-field.tsx';

/** The editable fields. JSON is kept as text, because it is invalid while being typed. */
export interface Draft {
  readonly name: string;
  readonly description: string;
  readonly context: string;
  readonly config: string;
  readonly metadata: string;
}

export function draftOf({ name, description, context, config, metadata }: Assistant): Draft {
  // The server keeps the configurable values equal to the context.
  const { configurable: _, ...rest } = config;
  const [contextText, configText, metadataText] = [context, rest, metadata].map((value) =>
    JSON.stringify(value, null, 2),
  ) as [string, string, string];
  return {
    name,
    description: description ?? '',
    context: contextText,
    config: configText,
    metadata: metadataText,
  };
}

export const JSON_FIELDS = ['context', 'config', 'metadata'] as const;

/** The fields that differ from the server's version. */
export function changesOf(draft: Draft, before: Draft): Schemas['AssistantPatch'] {
  const patch: Record<string, unknown> = {};
  for (const field of ['name', 'description'] as const)
    if (draft[field] !== before[field]) patch[field] = draft[field];
  for (const field of JSON_FIELDS) {
    if (draft[field] !== before[field]) patch[field] = typedJson(draft[field]).value ?? {};
  }
  // The server clears one if only the other is sent.
  if ('config' in patch) patch['context'] ??= typedJson(draft.context).value ?? {};
  return patch;
}

/** Applies the edits since `before` on top of what another client has saved. */
export function rebased(draft: Draft, before: Draft, after: Draft): Draft {
  const kept = Object.entries(draft).filter(([field, text]) => text !== before[field as keyof Draft]);
  return { ...after, ...Object.fromEntries(kept) };
}
