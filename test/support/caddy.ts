import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** Debian's package installs it here; undefined without it. */
export const CADDY = ['/usr/bin/caddy'].find(existsSync);

/** A Caddy of the tests' own. */
export interface Caddy extends AsyncDisposable {
  readonly url: string;
}

/**
 * Caddy with the site of a Caddyfile, on a free port instead of `:8123`. `addresses`: by the names in the file, with
 * port, such as `api-1:8123`, what stands for them here.
 */
export async function startCaddy(file: string, addresses: Readonly<Record<string, string>>): Promise<Caddy> {
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-caddy-'));
  const port = await freePort();
  const names = Object.entries(addresses);
  const site = names.reduce((text, [name, address]) => text.replaceAll(name, address), file);
  const text = `{\n\tadmin off\n}\n${site.replace(/^:8123 /m, `:${port} `)}`;
  const path = join(folder, 'Caddyfile');
  writeFileSync(path, text);
  const args = ['run', '--config', path, '--adapter', 'caddyfile'];
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  const program = spawn(CADDY as string, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  let log = '';
  program.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const url = `http://127.0.0.1:${port}`;
  await until('Caddy answers', () => {
    if (program.exitCode !== null) throw new Error(log);
    return fetch(url, { signal: AbortSignal.timeout(1000) }).then(
      () => true,
      () => false,
    );
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      program.kill('SIGTERM');
      if (program.exitCode === null && program.signalCode === null) await once(program, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
