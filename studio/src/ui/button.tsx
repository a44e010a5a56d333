import type { ComponentProps } from 'react';

const LOOKS = {
  plain: 'border-line-strong bg-panel text-ink hover:bg-sunk',
  primary: 'border-transparent bg-accent text-on-accent hover:brightness-95',
  quiet: 'border-transparent text-ink-2 hover:bg-sunk hover:text-ink',
  danger: 'border-line-strong bg-panel text-err hover:bg-err-bg',
} as const;

export type ButtonLook = keyof typeof LOOKS;

/** Button classes, for links that look like buttons. */
export function buttonClass(look: ButtonLook = 'plain'): string {
  return `inline-flex h-7 items-center justify-center gap-1.5 rounded-[7px] border px-2.5 text-sm font-medium whitespace-nowrap disabled:opacity-50 disabled:pointer-events-none ${LOOKS[look]}`;
}

export function Button({
  look = 'plain',
  className = '',
  ...props
}: ComponentProps<'button'> & { look?: ButtonLook }) {
  return <button type="button" {...props} className={`${buttonClass(look)} ${className}`} />;
}
