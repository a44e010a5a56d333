import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { type Assistant, schemasQuery } from '../../api/assistants.ts';
import { useSession } from '../../api/session.ts';
import { isObject } from '../../api/values.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Field, TextArea, TextInput } from '../../ui/fields.tsx';
import { JsonField, typedJson } from '../../ui/json-field.tsx';
import { Card } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { useAssistantChanges } from './assistant-queries.ts';
import { changesOf, type Draft, draftOf, JSON_FIELDS, rebased } from './draft.ts';
import { SchemaForm } from './schema-form.tsx';

/** The settings of an assistant: a form where the graph has a schema, and JSON for everything. */
export function Settings({ assistant }: { assistant: Assistant }) {
  const { draft, before, isBehind, set, adopt, rebase } = useDraft(assistant);
  const { save } = useAssistantChanges(assistant.assistant_id);
  const { can } = useSession();
  const isWrong = JSON_FIELDS.some((field) => typedJson(draft[field]).error !== undefined);
  const patch = isWrong ? {} : changesOf(draft, before);
  const hasChanges = isWrong || Object.keys(patch).length > 0;
  const isAsking = isBehind && hasChanges && !save.isPending;
  // There are no edits that it could replace.
  if (isBehind && !hasChanges) adopt(assistant);
  function submit(event: FormEvent) {
    event.preventDefault();
    if (!isWrong && hasChanges && !isAsking) save.mutate(patch, { onSuccess: adopt });
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      {isAsking && (
        <NewerVersion version={assistant.version} keep={rebase} replace={() => adopt(assistant)} />
      )}
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
          <Button
            type="submit"
            look="primary"
            disabled={!hasChanges || isWrong || isAsking || save.isPending}
          >
            Save as a new version
          </Button>
          {hasChanges && (
            <Button look="quiet" onClick={() => set(before)}>
              Discard changes
            </Button>
          )}
        </div>
      )}
    </form>
  );
}

/** The draft and its base version. `isBehind` if another client has saved a newer version. */
function useDraft(assistant: Assistant) {
  const [base, setBase] = useState(assistant);
  const [draft, setDraft] = useState(() => draftOf(assistant));
  const before = draftOf(base);
  return {
    draft,
    before,
    isBehind: base.version !== assistant.version,
    set: (change: Partial<Draft>) => setDraft({ ...draft, ...change }),
    /** Resets the draft to a version. */
    adopt(version: Assistant) {
      setBase(version);
      setDraft(draftOf(version));
    },
    rebase() {
      setBase(assistant);
      setDraft(rebased(draft, before, draftOf(assistant)));
    },
  };
}

interface NewerVersionProps {
  readonly version: number;
  readonly keep: () => void;
  readonly replace: () => void;
}

/** Shown if another client saved a version while this draft was open. */
function NewerVersion({ version, keep, replace }: NewerVersionProps) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-2 rounded-[10px] border border-wait bg-wait-bg px-4 py-3"
    >
      <p className="min-w-60 flex-1">
        <b className="font-semibold">Version {version} was saved in the meantime.</b> Your changes are still
        here, but not saved.
      </p>
      <Link
        to="."
        search={(before: object) => ({ ...before, tab: 'versions' })}
        target="_blank"
        className={buttonClass('quiet')}
      >
        View its changes
      </Link>
      <Button onClick={replace}>Use version {version}</Button>
      <Button look="primary" onClick={keep}>
        Keep my changes
      </Button>
    </div>
  );
}

interface JsonFieldsProps {
  readonly draft: Draft;
  readonly set: (change: Partial<Draft>) => void;
}

function JsonFields({ draft, set }: JsonFieldsProps) {
  return (
    <Card className="flex flex-col gap-3 p-4">
      <JsonField label="Context as JSON" text={draft.context} onChange={(context) => set({ context })} />
      <JsonField
        label="Other configuration: recursion_limit, tags"
        rows={4}
        text={draft.config}
        onChange={(config) => set({ config })}
      />
      <JsonField
        label="Metadata (keys you leave out are kept)"
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

/** Fields for the context, from the graph's schema. They edit the same value as the JSON. */
function ContextForm({ assistant, text, onChange }: ContextFormProps) {
  const { data, error } = useQuery(schemasQuery(assistant.assistant_id));
  if (error) return <Failure error={error} />;
  if (!data) return <Loading what="the schema" />;
  const schema = data.context_schema ?? data.config_schema;
  if (!schema || !isObject(schema['properties'])) {
    return <p className="text-ink-3">The graph declares no context schema. Edit the context as JSON.</p>;
  }
  const { value, error: problem } = typedJson(text);
  if (problem !== undefined || !(value === undefined || isObject(value))) {
    return <p className="text-ink-3">Fix the JSON to see the fields again.</p>;
  }
  return (
    <SchemaForm
      schema={schema}
      value={value ?? {}}
      onChange={(next) => onChange(JSON.stringify(next, null, 2))}
    />
  );
}
