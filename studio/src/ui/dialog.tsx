import { Dialog as Base } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { useSession } from '../api/session.ts';

interface DialogProps {
  /** Wrap user content in `<bdi>`, as everywhere next to our own text. */
  readonly title: ReactNode;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A modal dialog. Escape closes it and restores the focus. */
export function Dialog({ title, open, onClose, children }: DialogProps) {
  // The sign-in dialog is outside of it and must not close it.
  const { has_ended } = useSession();
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => !isOpen && !has_ended && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 bg-scrim" />
        <Base.Popup className="fixed top-[12vh] left-1/2 flex max-h-[76vh] w-[min(560px,calc(100vw-24px))] -translate-x-1/2 flex-col gap-4 overflow-auto rounded-[10px] border border-line bg-panel p-5 text-ink shadow-lg">
          <Base.Title className="text-base font-semibold">{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
