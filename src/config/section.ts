import type { z } from 'zod';

/** A part of the configuration that belongs to an extension. */
export interface Section<T extends z.ZodType = z.ZodType> {
  /** Where it is in the file: a key of the top level, or of `http`, as in `http.openai`. */
  readonly path: string;
  /** Has a default, so that the section can be left out. */
  readonly schema: T;
}

/** The value of a section. `config`: as `loadConfig` returns it, with every section of the extensions in the list. */
export function sectionOf<T extends z.ZodType>(config: object, { path }: Section<T>): z.output<T> {
  const value = path
    .split('.')
    .reduce<unknown>((parent, key) => (parent as Record<string, unknown>)[key], config);
  return value as z.output<T>;
}

/** Schemas by key of the sections directly below `parent`; of the top level if it is empty. */
export function sectionsBelow(sections: readonly Section[], parent: string): Record<string, z.ZodType> {
  const below = sections.map(({ path, schema }) => [path.split('.'), schema] as const);
  return Object.fromEntries(
    below.flatMap(([keys, schema]) => {
      const key = keys.at(-1);
      return key !== undefined && keys.slice(0, -1).join('.') === parent ? [[key, schema]] : [];
    }),
  );
}
