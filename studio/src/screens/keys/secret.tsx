import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { DialogButtons } from '../../ui/confirm.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { TextInput } from '../../ui/fields.tsx';

interface SecretProps {
  readonly label: string;
  readonly secret: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A secret that is shown once. */
export function Secret({ label, secret, onClose, children }: SecretProps) {
  return (
    <>
      <p className="text-ink-2">{children}</p>
      <div className="flex gap-2">
        <TextInput
          readOnly
          autoFocus
          aria-label={label}
          value={secret}
          onFocus={({ target }) => target.select()}
          className="min-w-0 flex-1 font-mono"
        />
        <CopyButton text={secret} what={label} look="primary" />
      </div>
      <DialogButtons>
        <Button onClick={onClose}>Done</Button>
      </DialogButtons>
    </>
  );
}
