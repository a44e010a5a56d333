import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { AssistantSelect } from '../../ui/assistant-select.tsx';
import { Button } from '../../ui/button.tsx';
import { DialogForm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select, TextInput } from '../../ui/fields.tsx';
import { Secret } from './secret.tsx';

/** Creates a browser token to try out, and shows it once. */
export function NewToken() {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>New browser token</Button>
      <Dialog title="New browser token" open={isOpen} onClose={close}>
        <Form close={close} />
      </Dialog>
    </>
  );
}

interface Draft {
  readonly user: string;
  readonly assistant_id: string;
  readonly scope: 'read' | 'run';
  readonly seconds: string;
}

const FIRST: Draft = { user: '', assistant_id: '', scope: 'run', seconds: '900' };

function Form({ close }: { close: () => void }) {
  const [draft, setDraft] = useState(FIRST);
  const set = (change: Partial<Draft>) => setDraft({ ...draft, ...change });
  const create = useMutation({
    // Not cached: only this dialog holds the secret.
    gcTime: 0,
    mutationFn: () => {
      const { assistant_id, scope, seconds } = draft;
      const user = draft.user.trim();
      const limits = { ...(user ? { user } : {}), ...(assistant_id ? { assistant_id } : {}) };
      return dataOf(api.POST('/auth/tokens', { body: { ...limits, scope, ttl_seconds: Number(seconds) } }));
    },
  });
  if (create.data) {
    return (
      <Secret label="Browser token" secret={create.data.token} onClose={close}>
        Copy it now. It is not shown again. It expires {new Date(create.data.expires_at).toLocaleString()}.
      </Secret>
    );
  }
  return (
    <DialogForm action="Create" sending={create} close={close}>
      <p className="text-ink-2">
        A short-lived token for one user, for web pages where a key would be public. Create one here to try it
        out; programs use POST /auth/tokens.
      </p>
      <Fields draft={draft} set={set} />
    </DialogForm>
  );
}

function Fields({ draft, set }: { draft: Draft; set: (change: Partial<Draft>) => void }) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field label="User">
        <TextInput
          required
          autoFocus
          value={draft.user}
          onChange={({ target }) => set({ user: target.value })}
        />
      </Field>
      <Field label="Assistant">
        <AssistantSelect
          value={draft.assistant_id}
          onChange={({ target }) => set({ assistant_id: target.value })}
        />
      </Field>
      <Field label="Scope">
        <Select
          value={draft.scope}
          onChange={({ target }) => set({ scope: target.value as Draft['scope'] })}
          options={[
            ['read', 'read: only reads'],
            ['run', 'run: also creates runs'],
          ]}
        />
      </Field>
      <Field label="Ends">
        <Select
          value={draft.seconds}
          onChange={({ target }) => set({ seconds: target.value })}
          options={[
            ['900', 'After 15 minutes'],
            ['3600', 'After an hour'],
            ['86400', 'After a day'],
          ]}
        />
      </Field>
    </div>
  );
}
