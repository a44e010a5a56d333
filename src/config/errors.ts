import type { z } from 'zod';
import { didYouMean } from '../core/did-you-mean.ts';
import { configKeys } from './reference.ts';

/** Invalid configuration. One line per problem: source, key path, problem. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: { cause?: unknown }) {
    super(problems.join('\n'), options);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Collects problems, one per key. Knows which flag or variable set a key; all other keys come from the file. */
export class ConfigIssues {
  readonly #file: string;
  readonly #sources = new Map<string, string>();
  readonly #lines = new Map<string, string>();

  constructor(file: string) {
    this.#file = file;
  }

  get lines(): readonly string[] {
    return [...this.#lines.values()];
  }

  recordSource(key: string, source: string): void {
    this.#sources.set(key, source);
  }

  /** `what` must not contain a configuration value, which may be secret. Only the first problem of a key is stored. */
  add(key: string, what: string): void {
    if (!this.#lines.has(key)) this.#lines.set(key, `${this.#sourceOf(key)}: ${key}: ${what}`);
  }

  addIssues(issues: readonly z.core.$ZodIssue[]): void {
    for (const issue of issues) {
      const branch = issue.code === 'invalid_union' ? matchingBranch(issue) : undefined;
      if (branch) this.addIssues(branch);
      else if (issue.code === 'unrecognized_keys') {
        for (const name of issue.keys) this.#addUnknown([...issue.path, name].join('.'));
      } else if (issue.code === 'invalid_key') {
        this.add(issue.path.join('.'), issue.issues[0]?.message ?? issue.message);
      } else this.add(issue.path.join('.'), issue.message);
    }
  }

  #addUnknown(key: string): void {
    const meant = suggestedKey(key);
    this.add(key, meant === undefined ? 'unknown key' : `unknown key; did you mean ${meant}?`);
  }

  /** Source of the key, or of its nearest enclosing block. */
  #sourceOf(key: string): string {
    const source = this.#sources.get(key);
    if (source !== undefined) return source;
    return key.includes('.') ? this.#sourceOf(key.slice(0, key.lastIndexOf('.'))) : this.#file;
  }
}

/** Issues of the union branch whose type matches: for a map with a wrong key, report the key. */
function matchingBranch(issue: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] | undefined {
  const wrongKind = (inner: z.core.$ZodIssue) => inner.path.length === 0 && inner.code === 'invalid_type';
  const branch = issue.errors.find((issues) => !issues.some(wrongKind));
  return branch?.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** Closest known key, else one with the same last segment: `port` suggests `server.port`. */
function suggestedKey(unknown: string): string | undefined {
  const parts = unknown.split('.');
  const known = new Set<string>();
  /** Excludes keys that end with a user-defined name, which would match any segment. */
  const named = new Set<string>();
  for (const { key } of configKeys()) {
    const segments = key.split('.');
    const names = segments.map((name, depth) => (name === '*' ? (parts[depth] ?? name) : name));
    for (let depth = 1; depth <= names.length; depth++) {
      const path = names.slice(0, depth).join('.');
      known.add(path);
      if (segments[depth - 1] !== '*') named.add(path);
    }
  }
  const last = parts.at(-1) as string;
  return (
    didYouMean(unknown, known) ??
    [...named].find((key) => key.endsWith(`.${last}`) || key.endsWith(`_${last}`))
  );
}
