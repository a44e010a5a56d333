import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { command } from './command.ts';

const TARBALL = '/agent-server/-/agent-server.tgz';

export interface Registry extends AsyncDisposable {
  readonly url: string;
}

/**
 * A registry that has the packed server by name and version, as if it was published, and sends clients to the registry of
 * this machine for all else. Our own, because Verdaccio would bring more packages than the server itself has.
 */
export async function registryWith(tarball: string): Promise<Registry> {
  const upstream = (await command('npm', ['config', 'get', 'registry'], { cwd: '/' })).trim();
  const content = await readFile(tarball);
  const manifest = JSON.parse(await command('tar', ['-xzOf', tarball, 'package/package.json'], { cwd: '/' }));
  const integrity = `sha512-${createHash('sha512').update(content).digest('base64')}`;
  const server = createServer((request, response) => {
    if (request.url === TARBALL) response.end(content);
    else if (request.url === '/agent-server')
      response.setHeader('Content-Type', 'application/json').end(packument());
    else response.writeHead(307, { Location: new URL(`.${request.url}`, upstream).href }).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const packument = () =>
    JSON.stringify({
      name: manifest.name,
      'dist-tags': { latest: manifest.version },
      versions: { [manifest.version]: { ...manifest, dist: { tarball: `${url}${TARBALL}`, integrity } } },
    });
  return {
    url: `${url}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
