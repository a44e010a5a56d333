import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Project, project } from '../support/project.ts';
import { filesOf, ROOT } from './blocks.ts';

/** Projects import the package; here it is the sources. */
const PACKAGE = pathToFileURL(join(ROOT, 'src/index.ts')).href;

/** The files that a page of the documentation names, and others, as a project of modules. */
export function projectOf(page: string, others: Readonly<Record<string, string>> = {}): Promise<Project> {
  const files = Object.entries(filesOf(page)).map(([name, text]) => [
    name,
    text.replaceAll("from 'agent-server'", `from '${PACKAGE}'`),
  ]);
  return project({ 'package.json': '{ "type": "module" }', ...Object.fromEntries(files), ...others });
}
