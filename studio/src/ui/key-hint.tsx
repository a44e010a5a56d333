/** The shortcut of an action. Hidden on touch devices. */
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
