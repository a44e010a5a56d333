import type { ReactNode } from 'react';
import { Empty } from './states.tsx';

/** In place of a screen that this caller may not see. */
export function Forbidden({ children }: { children: ReactNode }) {
  return <Empty title="Not for this key">{children}</Empty>;
}
