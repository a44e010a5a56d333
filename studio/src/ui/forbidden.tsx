import type { ReactNode } from 'react';
import { Empty } from './states.tsx';

/** Shown instead of a screen that the caller may not see. */
export function Forbidden({ children }: { children: ReactNode }) {
  return <Empty title="Not available with this key">{children}</Empty>;
}
