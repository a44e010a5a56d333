import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import { isObject } from '../../api/values.ts';
import { Button } from '../../ui/button.tsx';
import { DialogButtons } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select, TextInput } from '../../ui/fields.tsx';
import { JsonInput, typedJson } from '../../ui/json-field.tsx';
import { labelsOf, putItem } from './store-queries.ts';

interface ItemFormProps {
  /** Suggested namespace of a new item. */
  readonly namespace: string;
  /** The one to edit. A new one if absent. */
  readonly item?: Schemas['Item'];
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Creates an item, or replaces its value. */
export function ItemForm(props: ItemFormProps) {
  return (
    <Dialog
      title={props.item ? `Edit ${props.item.key}` : 'New item'}
      open={props.open}
      onClose={props.onClose}
    >
      <Form {...props} />
    </Dialog>
  );
}

type Life = 'default' | 'never' | 'minutes';

/** A write without a TTL applies the configured one, so an edit sends the item's own TTL. */
function lifeOf(item: ItemFormProps['item']): Life {
  if (!item) return 'default';
  return item.ttl ? 'minutes' : 'never';
}

function Form({ namespace: suggested, item, onClose }: ItemFormProps) {
  const client = useQueryClient();
  const [namespace, setNamespace] = useState(suggested);
  const [key, setKey] = useState(item?.key ?? '');
  const [text, setText] = useState(() => JSON.stringify(item?.value ?? {}, null, 2));
  const [life, setLife] = useState(() => lifeOf(item));
  const [minutes, setMinutes] = useState(String(item?.ttl?.ttl_minutes ?? 60));
  const problem = problemOf(text);
  const put = useMutation({
    mutationFn: () => {
      const value = JSON.parse(text) as Record<string, unknown>;
      const ttl = { default: undefined, never: null, minutes: Number(minutes) }[life];
      return putItem({ namespace: labelsOf(namespace.trim()), key, value, ttl, index: item?.index });
    },
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['item'] });
      onClose();
    },
  });
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === undefined) put.mutate();
      }}
    >
      {!item && (
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Namespace (labels separated by dots)">
            <TextInput required value={namespace} onChange={({ target }) => setNamespace(target.value)} />
          </Field>
          <Field label="Key">
            <TextInput required autoFocus value={key} onChange={({ target }) => setKey(target.value)} />
          </Field>
        </div>
      )}
      <Field label="Value as JSON" error={problem}>
        <JsonInput rows={14} value={text} onChange={({ target }) => setText(target.value)} />
      </Field>
      <Lifetime life={life} setLife={setLife} minutes={minutes} setMinutes={setMinutes} />
      <DialogButtons error={put.error?.message ?? ''}>
        <Button look="quiet" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" look="primary" disabled={put.isPending || problem !== undefined}>
          Save
        </Button>
      </DialogButtons>
    </form>
  );
}

interface LifetimeProps {
  readonly life: Life;
  readonly setLife: (life: Life) => void;
  readonly minutes: string;
  readonly setMinutes: (minutes: string) => void;
}

function Lifetime({ life, setLife, minutes, setMinutes }: LifetimeProps) {
  return (
    <div className="flex flex-wrap items-end gap-2">
      <Field label="Expires">
        <Select
          value={life}
          onChange={({ target }) => setLife(target.value as Life)}
          options={[
            ['default', 'Server default'],
            ['never', 'Never'],
            ['minutes', 'After a number of minutes'],
          ]}
        />
      </Field>
      {life === 'minutes' && (
        <Field label="Minutes">
          <TextInput
            type="number"
            min="0.01"
            step="any"
            required
            className="w-28"
            value={minutes}
            onChange={({ target }) => setMinutes(target.value)}
          />
        </Field>
      )}
    </div>
  );
}

function problemOf(text: string): string | undefined {
  const parsed = typedJson(text);
  if (parsed.error !== undefined) return parsed.error;
  return isObject(parsed.value) ? undefined : 'The value must be a JSON object: { … }.';
}
