import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { PACKAGE_ROOT } from '../../core/package-files.ts';
import { UsageError } from '../command.ts';

const FOLDER = join(PACKAGE_ROOT, 'templates');

/** Files that every project gets. */
const SHARED = 'project';

/** What a project can begin with; the first is the default. */
export const TEMPLATES = ['agent', 'deep-agent', 'chat'] as const;
export type TemplateName = (typeof TEMPLATES)[number];

/** `template.json`: what `init` prints about a template and adds to `package.json`. */
export interface Template {
  readonly summary: string;
  /** What to ask its agent first. */
  readonly question: string;
  /** A command to run next to `dev`. */
  readonly next?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Throws a `UsageError` if there is no such template. */
export function templateName(name: string): TemplateName {
  const known = TEMPLATES.find((each) => each === name);
  if (known === undefined)
    throw new UsageError(`init: no template "${name}": there are ${TEMPLATES.join(', ')}`);
  return known;
}

export async function readTemplate(name: TemplateName): Promise<Template> {
  return JSON.parse(await readFile(join(FOLDER, name, 'template.json'), 'utf8'));
}

/** The files of a project, by their name in it, each with the path of its source. */
export async function templateFiles(name: TemplateName): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const folder of [name, SHARED])
    for (const entry of await readdir(join(FOLDER, folder), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || entry.name === 'template.json') continue;
      for (const target of targetsOf(relative(join(FOLDER, folder), path).replaceAll(sep, '/')))
        files.set(target, path);
    }
  return files;
}

/** Their names in the package have no dot: npm would interpret a `.gitignore` there. */
const DOTTED = /(^|\/)(gitignore|dockerignore|env\.example)$/;

function targetsOf(source: string): string[] {
  return [...(source === 'env.example' ? ['.env'] : []), source.replace(DOTTED, '$1.$2')];
}
