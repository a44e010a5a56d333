import type { z } from 'zod';

/** A part of the configuration that belongs to an extension. */
export interface Section<T extends z.ZodType = z.ZodType> {
  /** Where it is in the file: a key of the top level such as `mcp`, or one of `http` or `runs` such as `http.openai`. */
  readonly path: string;
  /** Has a default, so that the section can be left out. */
  readonly schema: T;
  /** Deployments use the value of the server and ignore that of their own file. Only at the top level. */
  readonly of_server?: boolean;
}

/** The value of a section; its default in a configuration that `loadConfig` has not made. */
export function sectionOf<T extends z.ZodType>(config: object, { path, schema }: Section<T>): z.output<T> {
  const value = path
    .split('.')
    .reduce<unknown>((parent, key) => (parent as Record<string, unknown> | undefined)?.[key], config);
  return (value === undefined ? schema.parse(undefined) : value) as z.output<T>;
}

/** Schemas by key of the sections directly below `parent`; of the top level if it is empty. */
export function sectionsBelow(
  sections: readonly Section[],
  parent: '' | 'http' | 'runs',
): Record<string, z.ZodType> {
  const beginning = parent && `${parent}.`;
  return Object.fromEntries(
    sections
      .filter(({ path }) => path.startsWith(beginning) && !path.slice(beginning.length).includes('.'))
      .map(({ path, schema }) => [path.slice(beginning.length), schema]),
  );
}
