import { useState } from 'react';
import { Button, type ButtonLook } from './button.tsx';
import { copyText } from './copy.ts';

interface CopyButtonProps {
  readonly text: string;
  /** For screen readers: what is copied. Optional if a named region around the button tells it. */
  readonly what?: string;
  readonly look?: ButtonLook;
  readonly className?: string;
}

/** Copies a text and reports the result. */
export function CopyButton({ text, what, look = 'quiet', className = '' }: CopyButtonProps) {
  const [last, setLast] = useState({ text: '', says: '' });
  async function copy() {
    const says = await copyText(text).then(
      () => 'Copied',
      () => 'Copy failed',
    );
    setLast({ text, says });
  }
  return (
    <Button look={look} className={className} onClick={() => void copy()}>
      {last.says !== '' && last.text === text ? last.says : 'Copy'}
      {what !== undefined && <span className="sr-only">{what}</span>}
    </Button>
  );
}
