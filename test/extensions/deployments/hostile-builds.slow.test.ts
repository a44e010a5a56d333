import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Isolation } from '../../../src/extensions/deployments/build/request.ts';
import { MB, PROJECT, projectWithScript, TestDeployment } from '../../support/builds.ts';

const isRoot = process.getuid?.() === 0;

/** Whether this machine can isolate builds in this way. */
function isPossible(isolation: Isolation): boolean {
  if (isolation === 'user') return isRoot;
  if (isolation === 'none') return true;
  try {
    execFileSync('bwrap', ['--unshare-user', '--unshare-pid', '--ro-bind', '/', '/', 'true'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

/** Tries to read what it must not, and writes what it got. */
const SPY = `
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { execSync } from 'node:child_process';
const attempt = (read) => { try { return String(read()); } catch (error) { return 'FAILED ' + error.code; } };
const server = process.env.SERVER_PID;
const found = {
  secret: attempt(() => readFileSync(process.env.SECRET_FILE)),
  other: attempt(() => readdirSync(process.env.OTHER_DEPLOYMENT)),
  overwritten: attempt(() => writeFileSync(process.env.SECRET_FILE, 'changed')),
  record: attempt(() => writeFileSync('../build.json', '{}')),
  serverEnvironment: attempt(() => readFileSync('/proc/' + server + '/environ')),
  killed: attempt(() => process.kill(Number(server), 'SIGTERM')),
  environment: JSON.stringify(process.env),
  git: attempt(() => execSync('cat .git/config .git/FETCH_HEAD 2>/dev/null; true')),
  home: process.env.HOME,
};
writeFileSync('found.json', JSON.stringify(found));
`;

describe.each(['bwrap', 'user'] as const)(
  'an install script in a build that is isolated by %s',
  (isolation) => {
    test.skipIf(!isPossible(isolation))(
      'reads neither files of the server nor other deployments',
      async () => {
        await using deployment = await TestDeployment.create();
        await using other = await TestDeployment.create();
        const secret = join(deployment.folder, 'server.db');
        await writeFile(secret, 'secret-in-the-database', { mode: 0o600 });
        const path = await deployment.write('app', projectWithScript(SPY));
        const foreign = await other.build({
          source: { kind: 'folder', path: await other.write('app', projectWithScript('')) },
        });
        const built = await deployment.build({
          source: { kind: 'folder', path },
          isolations: [isolation],
          build_env: { SECRET_FILE: secret, OTHER_DEPLOYMENT: foreign.root, SERVER_PID: `${process.pid}` },
        });

        expect(built.isolation).toBe(isolation);
        const found = JSON.parse(await readFile(join(built.root, 'found.json'), 'utf8'));
        for (const key of ['secret', 'other', 'serverEnvironment']) {
          expect([key, found[key]]).toEqual([key, expect.stringMatching(/^FAILED (EACCES|ENOENT|EPERM)$/)]);
        }
        expect(JSON.parse(await readFile(join(built.root, '../build.json'), 'utf8'))).toHaveProperty(
          'fingerprint',
        );
        // In a namespace the number may belong to no process, or to one of the build.
        expect(found.killed).toMatch(isolation === 'user' ? /FAILED EPERM/ : /FAILED ESRCH|true/);
        expect(found.environment).not.toContain('env-secret');
        expect(found.home).toBe(join(built.root, '../home'));
        expect(await readFile(secret, 'utf8')).toBe('secret-in-the-database');
      },
    );
  },
);

test.skipIf(!isPossible('bwrap'))(
  'a build in a namespace writes only into folders that are measured',
  async () => {
    await using deployment = await TestDeployment.create();
    const script = `
    import { writeFileSync } from 'node:fs';
    const attempt = (path) => { try { writeFileSync(path, 'x'); return path; } catch ({ code }) { return code; } };
    writeFileSync('found.json', JSON.stringify(['/run/egress/file', '/run/file', '/file', '/tmp/file'].map(attempt)));`;
    const path = await deployment.write('app', projectWithScript(script));
    // As the server's own user, to whom the folder of the proxy belongs.
    await chmod(deployment.folder, 0o700);
    const built = await deployment.build({ source: { kind: 'folder', path }, isolations: ['bwrap'] });
    expect(built.network).toBe('proxy');
    const found = JSON.parse(await readFile(join(built.root, 'found.json'), 'utf8'));
    expect(found).toEqual(['EROFS', 'EROFS', 'EROFS', '/tmp/file']);
  },
);

describe.skipIf(!isRoot)('where only root may enter the folder of the deployment', () => {
  test.skipIf(!isPossible('bwrap'))('namespaces alone hide root’s files from an install script', async () => {
    await using deployment = await TestDeployment.create();
    const path = await deployment.write('app', projectWithScript(SPY));
    await chmod(deployment.folder, 0o700);
    const built = await deployment.build({
      source: { kind: 'folder', path },
      build_env: { SECRET_FILE: '/etc/shadow', OTHER_DEPLOYMENT: '/root', SERVER_PID: `${process.pid}` },
    });
    expect(built.isolation).toBe('bwrap');
    const found = JSON.parse(await readFile(join(built.root, 'found.json'), 'utf8'));
    for (const key of ['secret', 'other', 'serverEnvironment']) {
      expect([key, found[key]]).toEqual([key, 'FAILED ENOENT']);
    }
  });

  test('it can be opened for traversal, from a parent down', async () => {
    await using deployment = await TestDeployment.create();
    const path = await deployment.write('app', PROJECT);
    const closed = join(deployment.folder, 'data/apps/one');
    for (const folder of ['data', 'data/apps', 'data/apps/one']) {
      await mkdir(join(deployment.folder, folder), { mode: 0o700 });
    }
    const built = await deployment.build({
      source: { kind: 'folder', path },
      folder: join(closed, 'builds/1'),
      cache: join(closed, 'cache'),
      open_from: join(deployment.folder, 'data'),
      isolations: ['user'],
    });
    expect(built.isolation).toBe('user');
    const modes = ['data', 'data/apps', 'data/apps/one/builds', 'data/apps/one/builds/1'].map(
      async (name) => (await stat(join(deployment.folder, name))).mode & 0o777,
    );
    expect(await Promise.all(modes)).toEqual([0o711, 0o711, 0o711, 0o700]);
  });

  test('a separate user isolates nothing, and the log warns about it', async () => {
    await using deployment = await TestDeployment.create();
    const path = await deployment.write('app', PROJECT);
    await chmod(deployment.folder, 0o700);
    const built = await deployment.build({ source: { kind: 'folder', path }, isolations: ['user', 'none'] });
    expect(built.isolation).toBe('none');
    expect(deployment.log).toContain('install WARNING Not isolated');
  });
});

test('a build without isolation logs a warning', async () => {
  await using deployment = await TestDeployment.create();
  const path = await deployment.write('app', projectWithScript(SPY));
  const built = await deployment.build({
    source: { kind: 'folder', path },
    isolations: ['none'],
    build_env: { SECRET_FILE: '/nowhere/file', OTHER_DEPLOYMENT: '/nowhere', SERVER_PID: '2147483647' },
  });
  expect(built.isolation).toBe('none');
  expect(deployment.log).toMatch(/install WARNING Not isolated, .*database .*keys/);
  const found = JSON.parse(await readFile(join(built.root, 'found.json'), 'utf8'));
  expect(found.environment).not.toContain('env-secret');
});

test('a server that requires isolation fails builds that it cannot isolate', async () => {
  await using deployment = await TestDeployment.create();
  const path = await deployment.write('app', projectWithScript(''));
  const failure = await deployment.failure({
    source: { kind: 'folder', path },
    isolations: ['bwrap'],
    env: { PATH: '/usr/sbin' },
  });
  expect(failure).toMatchObject({ step: 'install', code: 'isolation_unavailable' });
});

/** Leaves a process behind that has its own session, and no parent. */
const DAEMON = `
import { spawn } from 'node:child_process';
const code = 'process.title = "left-" + process.argv[1]; setInterval(() => {}, 1000)';
const child = spawn('sh', ['-c', 'node -e "$0" "$1" & echo started', code, process.env.NAME], { detached: true, stdio: 'ignore' });
await new Promise((resolve) => child.on('exit', resolve));
`;

/** Each of its processes starts two others, as long as it may. */
const FORK_BOMB = `
import { spawnSync } from 'node:child_process';
process.exitCode = 1;
spawnSync('sh', ['-c', 'bomb() { bomb | bomb & }; bomb; sleep 3', process.env.NAME], { stdio: 'inherit' });
`;

// Without a user of its own nothing bounds what root starts between two measurements.
describe.each(['bwrap', 'user'] as const)('a build that is isolated by %s', (isolation) => {
  test.skipIf(!isPossible(isolation))('a fork bomb is ended without leftover processes', async () => {
    await using deployment = await TestDeployment.create();
    const path = await deployment.write('app', projectWithScript(FORK_BOMB));
    const NAME = `bomb-${isolation}-${process.pid}`;
    const failure = await deployment.failure({
      source: { kind: 'folder', path },
      isolations: [isolation],
      build_env: { NAME },
      limits: { seconds: 120, memory_bytes: 4096 * MB, disk_bytes: 1024 * MB, tasks: 150 },
    });
    expect(failure).toMatchObject({ step: 'install', code: 'process_limit' });
    expect(await processesNamed(NAME)).toEqual([]);
  });
});

describe.each(['bwrap', 'user', 'none'] as const)('a build that is isolated by %s', (isolation) => {
  test.skipIf(!isPossible(isolation))('no process outlives the build', async () => {
    await using deployment = await TestDeployment.create();
    const path = await deployment.write('app', projectWithScript(DAEMON));
    const NAME = `${isolation}-${process.pid}`;
    await deployment.build({
      source: { kind: 'folder', path },
      isolations: [isolation],
      build_env: { NAME },
    });
    expect(await processesNamed(NAME)).toEqual([]);
  });

  test.skipIf(!isPossible(isolation))('no process outlives an interrupted build', async () => {
    await using deployment = await TestDeployment.create();
    const script = `${DAEMON}\nconsole.log("waiting"); setInterval(() => {}, 1000);`;
    const path = await deployment.write('app', projectWithScript(script));
    const NAME = `aborted-${isolation}-${process.pid}`;
    const abort = new AbortController();
    const failure = await deployment.failure({
      source: { kind: 'folder', path },
      isolations: [isolation],
      build_env: { NAME },
      signal: abort.signal,
      log: ({ message }) => message === 'waiting' && abort.abort(),
    });
    expect(failure).toMatchObject({ step: 'install', code: 'aborted' });
    expect(await processesNamed(NAME)).toEqual([]);
  });
});

async function processesNamed(name: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((pid) => /^\d+$/.test(pid));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.filter((line) => line.includes(name));
}

/** A link instead of each file that the server reads. */
test.each(['langgraph.json', 'package.json'])(
  'the server reads no file outside of the build through %s',
  async (name) => {
    await using deployment = await TestDeployment.create();
    const secret = join(deployment.folder, 'secret.json');
    await writeFile(secret, 'secret-in-a-file {');
    await chmod(secret, 0o600);
    const path = await deployment.write('app', projectWithScript(''));
    const { rm, symlink } = await import('node:fs/promises');
    await rm(join(path, name));
    await symlink(secret, join(path, name));
    const failure = await deployment.failure({ source: { kind: 'folder', path } });
    expect(failure.code).toBe(name === 'langgraph.json' ? 'config_missing' : 'package_json_missing');
    expect(deployment.log).not.toContain('secret-in-a-file');
  },
);
