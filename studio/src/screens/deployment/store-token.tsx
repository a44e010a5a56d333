import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { controlPlane } from '../../api/control-plane.ts';
import { Button } from '../../ui/button.tsx';
import { DialogForm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, TextInput } from '../../ui/fields.tsx';

/** Stores a repository token, which the server never shows again. */
export function StoreToken({ id, isFirst }: { id: string; isFirst: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{isFirst ? 'Add token' : 'Replace token'}</Button>
      <Dialog title="Repository token" open={isOpen} onClose={close}>
        <Form id={id} close={close} />
      </Dialog>
    </>
  );
}

function Form({ id, close }: { id: string; close: () => void }) {
  const client = useQueryClient();
  const [token, setToken] = useState('');
  const [username, setUsername] = useState('');
  const store = useMutation({
    // Not cached: only this form holds the token.
    gcTime: 0,
    mutationFn: () => controlPlane.setToken(id, { token: token.trim(), username: username.trim() || null }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['deployment', id] });
      close();
    },
  });
  return (
    <DialogForm action="Save" sending={store} close={close}>
      <p className="text-ink-2">
        Use a token that can only read the repository. The server sends it only to the repository host and
        never shows it again.
      </p>
      <Field label="Token">
        <TextInput
          required
          autoFocus
          type="password"
          autoComplete="off"
          maxLength={4096}
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
      </Field>
      <Field label="Username (only if the service needs a specific one)">
        <TextInput
          autoComplete="off"
          maxLength={255}
          value={username}
          onChange={({ target }) => setUsername(target.value)}
        />
      </Field>
    </DialogForm>
  );
}
