import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { type Assistant, schemasQuery } from '../../api/assistants.ts';
import type { Schemas } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Field, TextArea, TextInput } from '../../ui/fields.tsx';
import { JsonField, typedJson } from '../../ui/json-field.tsx';
import { Card } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { useAssistantChanges } from './assistant-queries.ts';
import { isObject, SchemaForm } from './schema-form.tsx';

/** What can be written. JSON is kept as its text, so that it may be wrong for a while. */
interface Draft {
  readonly name: string;
  readonly description: string;
  readonly context: string;
  readonly config: string;
  readonly metadata: string;
}

function draftOf({ name, description, context, config, metadata }: Assistant): Draft {
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

const JSON_FIELDS = ['context', 'config', 'metadata'] as const;

/** The fields that differ from what the server has. */
function changesOf(draft: Draft, before: Draft): Schemas['AssistantPatch'] {
  const patch: Record<string, unknown> = {};
  for (const field of ['name', 'description'] as const)
    if (draft[field] !== before[field]) patch[field] = draft[field];
  for (const field of JSON_FIELDS) {
    if (draft[field] !== before[field]) patch[field] = typedJson(draft[field]).value ?? {};
  }
  // One without the other empties the other.
  if ('config' in patch) patch['context'] ??= typedJson(draft.context).value ?? {};
  return patch;
}

/** The settings of an assistant: a form where the graph has a schema, and JSON for everything. */
export function Settings({ assistant }: { assistant: Assistant }) {
  const [before] = useState(() => draftOf(assistant));
  const [draft, setDraft] = useState(before);
  const { save } = useAssistantChanges(assistant.assistant_id);
  const { can } = useSession();
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const isWrong = JSON_FIELDS.some((field) => typedJson(draft[field]).error !== undefined);
  const patch = isWrong ? {} : changesOf(draft, before);
  const hasChanges = isWrong || Object.keys(patch).length > 0;
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!isWrong && hasChanges) save.mutate(patch);
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <fieldset disabled={!can('admin')} className="grid items-start gap-4 lg:grid-cols-2">
        <legend className="sr-only">Settings</legend>
        <Card className="flex flex-col gap-3 p-4">
          <Field label="Name">
            <TextInput required value={draft.name} onChange={({ target }) => set({ name: target.value })} />
          </Field>
          <Field label="Description">
            <TextArea
              rows={2}
              value={draft.description}
              onChange={({ target }) => set({ description: target.value })}
            />
          </Field>
          <ContextForm assistant={assistant} text={draft.context} onChange={(context) => set({ context })} />
        </Card>
        <JsonFields draft={draft} set={set} />
      </fieldset>
      {save.error && <Failure error={save.error} />}
      {can('admin') && (
        <div className="flex items-center gap-3">
          <Button type="submit" look="primary" disabled={!hasChanges || isWrong || save.isPending}>
            Save as a new version
          </Button>
          {hasChanges && (
            <Button look="quiet" onClick={() => setDraft(before)}>
              Discard changes
            </Button>
          )}
        </div>
      )}
    </form>
  );
}

interface JsonFieldsProps {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
}

function JsonFields({ draft, set }: JsonFieldsProps) {
  return (
    <Card className="flex flex-col gap-3 p-4">
      <JsonField label="Context, as JSON" text={draft.context} onChange={(context) => set({ context })} />
      <JsonField
        label="Configuration without the context: recursion_limit, tags"
        rows={4}
        text={draft.config}
        onChange={(config) => set({ config })}
      />
      <JsonField
        label="Metadata; keys that are left out stay"
        rows={5}
        text={draft.metadata}
        onChange={(metadata) => set({ metadata })}
      />
    </Card>
  );
}

interface ContextFormProps {
  readonly assistant: Assistant;
  readonly text: string;
  readonly onChange: (text: string) => void;
}

/** Fields for the context, from the schema of the graph. They and the JSON are one value. */
function ContextForm({ assistant, text, onChange }: ContextFormProps) {
  const { data, error } = useQuery(schemasQuery(assistant.assistant_id));
  if (error) return <Failure error={error} />;
  if (!data) return <Loading what="the schema" />;
  const schema = data.context_schema ?? data.config_schema;
  if (!schema || !isObject(schema['properties'])) {
    return <p className="text-ink-3">The graph declares no schema of its context. Write it as JSON.</p>;
  }
  const { value, error: problem } = typedJson(text);
  if (problem !== undefined || !(value === undefined || isObject(value))) {
    return <p className="text-ink-3">The fields are back as soon as the JSON is right.</p>;
  }
  return (
    <SchemaForm
      schema={schema}
      value={value ?? {}}
      onChange={(next) => onChange(JSON.stringify(next, null, 2))}
    />
  );
}
