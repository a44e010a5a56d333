import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { DialogForm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select, TextInput } from '../../ui/fields.tsx';
import { Secret } from './secret.tsx';

type Scope = Schemas['Key']['scope'];

/** Creates an API key and shows it once. */
export function NewKey() {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button look="primary" onClick={() => setOpen(true)}>
        New key
      </Button>
      <Dialog title="New key" open={isOpen} onClose={close}>
        <Form close={close} />
      </Dialog>
    </>
  );
}

function Form({ close }: { close: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Scope>('run');
  const [days, setDays] = useState('90');
  const create = useMutation({
    // Not cached: only this dialog holds the secret.
    gcTime: 0,
    mutationFn: () => {
      const expires_in_days = days === '' ? null : Number(days);
      return dataOf(api.POST('/keys', { body: { name: name.trim(), scope, expires_in_days } }));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['key'] }),
  });
  if (create.data) {
    return (
      <Secret label="API key" secret={create.data.key} onClose={close}>
        Copy it now. It is not shown again.
      </Secret>
    );
  }
  return (
    <DialogForm action="Create" sending={create} close={close}>
      <Field label="Name (what the key is for)">
        <TextInput
          required
          autoFocus
          maxLength={256}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </Field>
      <Limits scope={scope} setScope={setScope} days={days} setDays={setDays} />
    </DialogForm>
  );
}

interface LimitsProps {
  readonly scope: Scope;
  readonly setScope: (scope: Scope) => void;
  /** Days until it expires. Empty: never. */
  readonly days: string;
  readonly setDays: (days: string) => void;
}

function Limits({ scope, setScope, days, setDays }: LimitsProps) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label="Scope">
        <Select
          value={scope}
          onChange={({ target }) => setScope(target.value as Scope)}
          options={[
            ['read', 'read: only reads'],
            ['run', 'run: also creates runs'],
            ['admin', 'admin: everything'],
          ]}
        />
      </Field>
      <Field label="Ends">
        <Select
          value={days}
          onChange={({ target }) => setDays(target.value)}
          options={[
            ['7', 'After 7 days'],
            ['90', 'After 90 days'],
            ['365', 'After a year'],
            ['', 'Never'],
          ]}
        />
      </Field>
    </div>
  );
}
