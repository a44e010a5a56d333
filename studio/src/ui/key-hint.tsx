/** The key that does the same, where there may be a keyboard. */
export function KeyHint({ children }: { children: string }) {
  return (
    <span
      aria-hidden="true"
      className="rounded-[4px] border border-current/30 px-1 font-mono text-[10px] leading-4 font-normal pointer-coarse:hidden"
    >
      {children}
    </span>
  );
}
