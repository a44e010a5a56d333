import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { BuildRequest, LogLine, StepState } from '../../src/extensions/deployments/build/request.ts';
import {
  BuildFailure,
  type BuiltRevision,
  buildRevision,
} from '../../src/extensions/deployments/build/source.ts';
import { needs } from './needs.ts';

const run = promisify(execFile);

export const MB = 1024 * 1024;

type Overrides = Partial<BuildRequest> & Pick<BuildRequest, 'source'>;

/** A deployment in a folder of its own: revisions, a cache, and repositories to build from. */
export class TestDeployment implements AsyncDisposable {
  readonly folder: string;
  readonly lines: LogLine[] = [];
  readonly steps: StepState[] = [];
  #revisions = 0;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<TestDeployment> {
    const folder = await mkdtemp(join(tmpdir(), 'deployment-'));
    // Builds of root run as another user, who must get through.
    await chmod(folder, 0o711);
    return new TestDeployment(folder);
  }

  /** Everything that was logged, one line each. */
  get log(): string {
    return this.lines.map(({ step, level, message }) => `${step} ${level} ${message}`).join('\n');
  }

  request(overrides: Overrides): BuildRequest {
    if (!overrides.folder) this.#revisions += 1;
    return {
      folder: join(this.folder, 'revisions', String(this.#revisions)),
      cache: join(this.folder, 'cache'),
      config_path: 'langgraph.json',
      limits: { seconds: 120, memory_bytes: 4096 * MB, disk_bytes: 1024 * MB, tasks: 2048 },
      allow_file_urls: true,
      checkAddress: async () => {},
      env: { PATH: process.env['PATH'], SECRET_OF_THE_SERVER: 'env-secret-1234567890' },
      log: (line) => this.lines.push(line),
      onStep: (step) => this.steps.push(step),
      secrets: [],
      signal: new AbortController().signal,
      ...overrides,
    };
  }

  async build(overrides: Overrides): Promise<BuiltRevision> {
    return await buildRevision(this.request(overrides));
  }

  /** The failure of a build that must not succeed. */
  async failure(overrides: Overrides): Promise<BuildFailure> {
    const result = await this.build(overrides).catch((error: unknown) => error);
    if (result instanceof BuildFailure) return result;
    throw result instanceof Error ? result : new Error(`it was built: ${JSON.stringify(result)}`);
  }

  /** Folder with these files; objects are written as JSON. */
  async write(name: string, files: ProjectFiles): Promise<string> {
    const folder = join(this.folder, name);
    await writeFiles(folder, files);
    return folder;
  }

  /** Path of a repository with one commit on `main`. */
  async repository(name: string, files: ProjectFiles): Promise<string> {
    const folder = await this.write(name, files);
    await git(folder, 'init', '--quiet', '--initial-branch=main');
    await commit(folder, 'first commit');
    return folder;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

export type ProjectFiles = Readonly<Record<string, string | object>>;

export async function writeFiles(folder: string, files: ProjectFiles): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

/** A project that can be built without a network. */
export const PROJECT: ProjectFiles = {
  'langgraph.json': { graphs: { agent: './agent.mjs:graph' } },
  'agent.mjs': 'export const graph = 1;\n',
  'package.json': { name: 'project', version: '1.0.0', type: 'module' },
};

/** The same with an install script. */
export function projectWithScript(script: string, files: ProjectFiles = {}): ProjectFiles {
  const manifest = { name: 'project', version: '1.0.0', scripts: { postinstall: 'node postinstall.mjs' } };
  return {
    ...PROJECT,
    'package.json': manifest,
    'package-lock.json': lockFile(manifest),
    'postinstall.mjs': script,
    ...files,
  };
}

/** A lock file of npm; `packages` by their paths. */
export function lockFile(manifest: object, packages: object = {}): object {
  const { name, version } = manifest as { name: string; version: string };
  return { name, version, lockfileVersion: 3, requires: true, packages: { '': manifest, ...packages } };
}

/** Writes the tarball of a package, as a registry would have it; returns its name. */
export async function pack(
  folder: string,
  name: string,
  files: ProjectFiles & { 'package.json': object },
): Promise<string> {
  await writeFiles(join(folder, `.${name}/package`), files);
  await run('tar', ['-czf', join(folder, `${name}.tgz`), '-C', join(folder, `.${name}`), 'package']);
  await rm(join(folder, `.${name}`), { recursive: true });
  return `${name}.tgz`;
}

export async function git(folder: string, ...args: string[]): Promise<string> {
  needs('git');
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false'];
  const { stdout } = await run('git', ['-C', folder, ...who, ...args]);
  return stdout.trim();
}

/** Commits all files; returns the commit id. */
export async function commit(folder: string, message: string): Promise<string> {
  await git(folder, 'add', '--all');
  await git(folder, 'commit', '--quiet', '--allow-empty', '-m', message);
  return await git(folder, 'rev-parse', 'HEAD');
}
