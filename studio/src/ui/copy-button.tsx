import { useState } from 'react';
import { Button, type ButtonLook } from './button.tsx';
import { copyText } from './copy.ts';

interface CopyButtonProps {
  readonly text: string;
  /** For screen readers: what is copied. */
  readonly what: string;
  readonly look?: ButtonLook;
  readonly className?: string;
}

/** Copies a text and says that it did. */
export function CopyButton({ text, what, look = 'quiet', className = '' }: CopyButtonProps) {
  const [copied, setCopied] = useState<string>();
  return (
    <Button look={look} className={className} onClick={() => void copyText(text).then(() => setCopied(text))}>
      {copied === text ? 'Copied' : 'Copy'}
      <span className="sr-only">{what}</span>
    </Button>
  );
}
