import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { hasBrowser } from './browser.ts';
import { POSTGRES_BINARIES } from './postgres-server.ts';
import { python } from './python.ts';

/** Whether the PATH has a program. */
export function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** What tests are skipped without, by how to have it. */
const WANTED: Readonly<Record<string, () => boolean>> = {
  'Chromium (Debian package chromium-headless-shell)': () => hasBrowser,
  'PostgreSQL (TEST_POSTGRES_URI)': () => process.env['TEST_POSTGRES_URI'] !== undefined,
  'PostgreSQL (/usr/lib/postgresql)': () => POSTGRES_BINARIES !== undefined,
  'a Python with langgraph_sdk (TEST_PYTHON)': () => python !== undefined,
  git: () => isInstalled('git'),
  'bash and curl': () => isInstalled('bash') && isInstalled('curl'),
  helm: () => isInstalled('helm'),
  openssl: () => isInstalled('openssl'),
};

/** Before all tests: one line for each thing that this machine lacks. */
export default function setup(): void {
  for (const [name, isHere] of Object.entries(WANTED))
    if (!isHere()) process.stdout.write(`Not installed, and tests that need it are skipped: ${name}\n`);
}
