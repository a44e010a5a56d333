import { execFileSync } from 'node:child_process';
import { createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { PROJECT, TestDeployment } from '../../support/builds.ts';
import { openDeploymentServer, projectThat } from '../../support/deployments.ts';
import { hasNetworkNamespaces } from '../../support/network-namespaces.ts';
import { PACKAGES } from '../../support/project.ts';

async function listen(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A registry with one package, whose install script runs this code. */
async function registryWith(script: string) {
  const tarball = packed({
    'package/package.json': JSON.stringify({
      name: 'spy',
      version: '1.0.0',
      scripts: { postinstall: 'node spy.mjs' },
    }),
    'package/spy.mjs': script,
  });
  const registry = await listen((request, response) => {
    if (request.url === '/spy.tgz') return void response.end(tarball);
    if (request.url !== '/spy') return void response.writeHead(404).end('{}');
    const dist = { tarball: `${registry.url}/spy.tgz` };
    const versions = { '1.0.0': { name: 'spy', version: '1.0.0', hasInstallScript: true, dist } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ name: 'spy', 'dist-tags': { latest: '1.0.0' }, versions }));
  });
  return registry;
}

/** Tries to reach these addresses directly and through the proxy, and notes what came of it. */
const spyOn = (urls: readonly string[]) => `
import { request } from 'node:http';
import { writeFileSync } from 'node:fs';
const proxy = new URL(process.env.HTTP_PROXY ?? 'http://127.0.0.1:1');
const ask = (options) => new Promise((resolve) => {
  const asked = request(options, (answer) => { answer.resume(); resolve(answer.statusCode); });
  asked.on('error', ({ code }) => resolve(code)).end();
});
const tunnel = (target) => new Promise((resolve) => {
  const asked = request({ host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: target });
  asked.on('connect', (answer) => { answer.socket?.destroy(); asked.destroy(); resolve(answer.statusCode); });
  asked.on('error', ({ code }) => resolve(code)).end();
});
const found = [];
for (const url of ${JSON.stringify(urls)}) {
  const { hostname: host, port, pathname: path } = new URL(url);
  found.push(await ask({ host, port, path, agent: false }));
  found.push(await ask({ host: proxy.hostname, port: proxy.port, path: url, agent: false }));
  found.push(await tunnel(host + ':' + port));
}
writeFileSync(process.env.INIT_CWD + '/found.json', JSON.stringify(found));
`;

describe.skipIf(!hasNetworkNamespaces())('a build with a network of its own', () => {
  test('installs from the registry, and its install scripts reach nothing else on this machine', async () => {
    let reached = 0;
    await using secret = await listen((_, response) => {
      reached += 1;
      response.end('secret');
    });
    await using registry = await registryWith(
      spyOn([`${secret.url}/`, secret.url.replace('127.0.0.1', 'localhost')]),
    );
    vi.stubEnv('npm_config_registry', registry.url);
    onTestFinished(() => void vi.unstubAllEnvs());
    await using server = await openDeploymentServer({ build: undefined });
    const { id } = await server.create('agent', {
      source_config: {
        build_command: `cat found.json && mv node_modules/spy . && rm -r node_modules && ln -s ${PACKAGES} node_modules`,
      },
    });
    const files = {
      ...projectThat('built'),
      'package.json': JSON.stringify({ dependencies: { spy: '1.0.0' } }),
    };
    const revision = await server.deploy(id, files);
    const logs = (await server.post(`/v1/projects/${id}/revisions/${revision.id}/build_logs`, { limit: 200 }))
      .body.logs;
    const text = logs.map(({ message }: { message: string }) => message).join('\n');
    expect(text).toContain('["ECONNREFUSED",403,403,"ECONNREFUSED",403,403]');
    expect(revision).toMatchObject({
      status: 'DEPLOYED',
      isolation: { filesystem: 'bwrap', network: 'proxy' },
    });
    expect(reached).toBe(0);
  });

  test('connects through the proxy of the server, whose password it does not see', async () => {
    const asked: string[] = [];
    await using registry = await registryWith('');
    await using proxy = await listen((incoming, response) => {
      asked.push(`${incoming.headers['proxy-authorization']} ${incoming.url}`);
      const path = URL.parse(incoming.url ?? '')?.pathname ?? '';
      request(registry.url + path, (answer) => answer.pipe(response)).end();
    });
    await using deployment = await TestDeployment.create();
    const path = await deployment.write('project', projectOf({ spy: '1.0.0' }));
    const built = await deployment.build({
      source: { kind: 'folder', path },
      isolations: ['bwrap'],
      env: {
        PATH: process.env['PATH'],
        HTTP_PROXY: proxy.url.replace('//', '//ann:pass-of-the-proxy@'),
        ALL_PROXY: proxy.url.replace('//', '//ann:pass-of-the-proxy@'),
        NO_PROXY: '127.0.0.1',
        npm_config_registry: 'http://registry.test',
      },
      build_command: 'env',
    });
    expect(built).toMatchObject({ isolation: 'bwrap', network: 'proxy' });
    const credentials = `Basic ${Buffer.from('ann:pass-of-the-proxy').toString('base64')}`;
    expect(asked).toContain(`${credentials} http://registry.test/spy`);
    expect(deployment.log).toContain('HTTP_PROXY=http://127.0.0.1:3128');
    expect(deployment.log).not.toContain('pass-of-the-proxy');
  });

  test('keeps it when the project names a proxy that cannot be used', async () => {
    await using deployment = await TestDeployment.create();
    const path = await deployment.write('project', projectOf({}));
    const built = await deployment.build({
      source: { kind: 'folder', path },
      build_env: { HTTPS_PROXY: 'socks5://127.0.0.1:1080' },
      build_command: '/bin/true',
    });
    expect(built).toMatchObject({ isolation: 'bwrap', network: 'proxy' });
  });

  test('cannot read a file of the server that the project names as its certificate authorities', async () => {
    await using deployment = await TestDeployment.create();
    const secret = await deployment.write('secret', { 'ca.pem': 'not for the build' });
    const path = await deployment.write('project', projectOf({}));
    const file = `${secret}/ca.pem`;
    await deployment.build({
      source: { kind: 'folder', path },
      isolations: ['bwrap'],
      build_env: { NODE_EXTRA_CA_CERTS: file, SSL_CERT_FILE: file },
      build_command: `cat ${file} || true`,
    });
    expect(deployment.log).not.toContain('not for the build');
  });

  test('fails at a dependency over ssh, and names it', async () => {
    await using deployment = await TestDeployment.create();
    const path = await deployment.write('project', projectOf({ lib: 'git+ssh://git.test/team/lib.git' }));
    const failure = await deployment.failure({ source: { kind: 'folder', path }, isolations: ['bwrap'] });
    expect(failure).toMatchObject({ step: 'install', code: 'dependency_over_ssh' });
    expect(failure.message).toContain('ssh://git.test/team/lib.git');
    expect(failure.hint).toContain('git+https://');
  });
});

function projectOf(dependencies: Readonly<Record<string, string>>) {
  return { ...PROJECT, 'package.json': { name: 'project', version: '1.0.0', type: 'module', dependencies } };
}

function packed(files: Readonly<Record<string, string>>): Buffer {
  const { mkdtempSync, mkdirSync, writeFileSync, rmSync } = process.getBuiltinModule('node:fs');
  const folder = mkdtempSync('/tmp/registry-');
  mkdirSync(`${folder}/package`);
  for (const [name, text] of Object.entries(files)) writeFileSync(`${folder}/${name}`, text);
  const tarball = execFileSync('tar', ['-czf', '-', '-C', folder, 'package']);
  rmSync(folder, { recursive: true });
  return tarball;
}
