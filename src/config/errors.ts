import type { z } from 'zod';
import { didYouMean } from '../core/did-you-mean.ts';
import { configKeys } from './reference.ts';

/** The configuration cannot be used. Each problem is one line: where it was set, the path of the key, what is wrong. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: { cause?: unknown }) {
    super(problems.join('\n'), options);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Collects what is wrong, one line a key, and knows which flag or variable set a key; all else is from the file. */
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

  /** `what` must hold no value of the configuration: it may be secret. The first problem of a key is kept. */
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

  /** Of the key itself, or of the nearest block around it. */
  #sourceOf(key: string): string {
    const source = this.#sources.get(key);
    if (source !== undefined) return source;
    return key.includes('.') ? this.#sourceOf(key.slice(0, key.lastIndexOf('.'))) : this.#file;
  }
}

/** The issues of the alternative whose kind fits: a map with a wrong key is better told about the key. */
function matchingBranch(issue: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] | undefined {
  const wrongKind = (inner: z.core.$ZodIssue) => inner.path.length === 0 && inner.code === 'invalid_type';
  const branch = issue.errors.find((issues) => !issues.some(wrongKind));
  return branch?.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** The nearest known key, or else one that ends alike: `port` means `server.port`. */
function suggestedKey(unknown: string): string | undefined {
  const parts = unknown.split('.');
  const known = new Set<string>();
  for (const { key } of configKeys()) {
    const names = key.split('.').map((name, depth) => (name === '*' ? (parts[depth] ?? name) : name));
    for (let depth = 1; depth <= names.length; depth++) known.add(names.slice(0, depth).join('.'));
  }
  const last = parts.at(-1) as string;
  return (
    didYouMean(unknown, known) ??
    [...known].find((key) => key.endsWith(`.${last}`) || key.endsWith(`_${last}`))
  );
}
