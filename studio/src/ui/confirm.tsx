import { type ReactNode, useState } from 'react';
import { Button, type ButtonLook } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface ConfirmProps {
  /** Label of the button that opens the confirmation, and of the one that confirms. */
  readonly action: string;
  readonly question: ReactNode;
  readonly look?: ButtonLook;
  readonly disabled?: boolean;
  /** The consequences of the action. */
  readonly children: ReactNode;
  readonly onOpen?: () => void;
  readonly onConfirm: () => Promise<unknown>;
}

/** A button that asks for confirmation. Server errors are shown in the dialog. */
export function Confirm({ action, question, look = 'danger', disabled, ...props }: ConfirmProps) {
  const { children, onOpen, onConfirm } = props;
  const [isOpen, setOpen] = useState(false);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState('');
  function open() {
    onOpen?.();
    setError('');
    setOpen(true);
  }
  async function confirm() {
    setPending(true);
    setError('');
    try {
      await onConfirm();
      setOpen(false);
    } catch (refusal) {
      setError(refusal instanceof Error ? refusal.message : String(refusal));
    } finally {
      setPending(false);
    }
  }
  return (
    <>
      <Button look={look} disabled={disabled} onClick={open}>
        {action}
      </Button>
      <Dialog title={question} open={isOpen} onClose={() => setOpen(false)}>
        <div className="text-ink-2">{children}</div>
        <DialogButtons error={error}>
          <Button look="quiet" onClick={() => setOpen(false)}>
            Cancel
          </Button>
          <Button look={look} disabled={isPending} onClick={() => void confirm()}>
            {action}
          </Button>
        </DialogButtons>
      </Dialog>
    </>
  );
}

/** Footer of a dialog: the error and the buttons. */
export function DialogButtons({ error = '', children }: { error?: string; children: ReactNode }) {
  return (
    <div className="flex flex-col gap-3">
      {error !== '' && (
        <p role="alert" className="break-words text-err">
          {error}
        </p>
      )}
      <div className="flex flex-wrap justify-end gap-2">{children}</div>
    </div>
  );
}

interface DialogFormProps {
  /** Labels of the submit and the close button. */
  readonly action: string;
  readonly leave?: string;
  readonly sending: {
    readonly error: Error | null;
    readonly isPending: boolean;
    readonly mutate: () => void;
  };
  readonly close: () => void;
  readonly children: ReactNode;
}

/** A form in a dialog. Server errors are shown in it. */
export function DialogForm({ action, leave = 'Cancel', sending, close, children }: DialogFormProps) {
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate();
      }}
    >
      {children}
      <DialogButtons error={sending.error?.message ?? ''}>
        <Button look="quiet" onClick={close}>
          {leave}
        </Button>
        <Button type="submit" look="primary" disabled={sending.isPending}>
          {action}
        </Button>
      </DialogButtons>
    </form>
  );
}
