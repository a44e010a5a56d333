import { createContext, type ReactNode, useContext } from 'react';

/** Which of several steps on the page the parts are of, such as `left`. Empty where there is one. */
export const PartsOf = createContext('');

/** The name of a region, which no other one on the page has. */
export function useRegionName(name: string): string {
  const which = useContext(PartsOf);
  return which === '' ? name : `${name}, ${which}`;
}

/** A part of the contents with a heading. */
export function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={useRegionName(title)} className="flex min-w-0 flex-col gap-1.5">
      <h3 className="font-medium">{title}</h3>
      {children}
    </section>
  );
}
