import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { controlPlane } from '../../api/control-plane.ts';
import { Button } from '../../ui/button.tsx';
import { DialogForm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, TextInput } from '../../ui/fields.tsx';

/** Stores a token for the repository, which the server never shows. */
export function StoreToken({ id, isFirst }: { id: string; isFirst: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{isFirst ? 'Store a token' : 'Replace token'}</Button>
      <Dialog title="Token of the repository" open={isOpen} onClose={close}>
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
    // The token is nowhere but in this form.
    gcTime: 0,
    mutationFn: () => controlPlane.setToken(id, { token: token.trim(), username: username.trim() || null }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['deployment', id] });
      close();
    },
  });
  return (
    <DialogForm action="Store" sending={store} close={close}>
      <p className="text-ink-2">
        It needs to read the repository, and nothing else. It is given to the host of the repository only, and
        never shown again.
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
      <Field label="Username, if the service needs another than it usually does">
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
