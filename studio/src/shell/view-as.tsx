import { useState } from 'react';
import { useSession, useSignIn } from '../api/session.ts';
import { DialogForm } from '../ui/confirm.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, TextInput } from '../ui/fields.tsx';

/** Whether this session may view Studio as a user. */
export function useMayViewAs(): boolean {
  const { authentication, isOperator, viewing_as } = useSession();
  return authentication && isOperator && viewing_as === null;
}

interface ViewAsProps {
  readonly open: boolean;
  readonly onClose: () => void;
}

/** Asks an administrator which user to view Studio as. */
export function ViewAs({ open, onClose }: ViewAsProps) {
  return (
    <Dialog title="View as user" open={open} onClose={onClose}>
      <Form onClose={onClose} />
    </Dialog>
  );
}

function Form({ onClose }: Pick<ViewAsProps, 'onClose'>) {
  const [user, setUser] = useState('');
  const signIn = useSignIn();
  const mutate = () => signIn.mutate({ view_as: user }, { onSuccess: onClose });
  return (
    <DialogForm action="View" sending={{ ...signIn, mutate }} close={onClose}>
      <p className="text-ink-2">
        You see what this user sees, and your actions are performed as this user, until you leave the view.
        The server log records it.
      </p>
      <Field label="User identity">
        <TextInput
          required
          autoFocus
          maxLength={256}
          value={user}
          onChange={({ target }) => setUser(target.value)}
        />
      </Field>
    </DialogForm>
  );
}
