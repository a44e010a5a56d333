import { dirname, isAbsolute, join, posix } from 'node:path';
import { BuildFailure } from '../build-failure.ts';
import { MAX_PARSED_BYTES, readProjectFile, readProjectJson } from './project-file.ts';

/** The part of a project's configuration that its build needs. */
export interface ProjectConfig {
  /** Absolute path. */
  readonly file: string;
  /** Its folder, relative to the root of the repository; empty for the root. */
  readonly folder: string;
  /** Major version of Node that it requests. */
  readonly node_version?: string | undefined;
}

/** Finds and parses the configuration. Its keys are validated when the revision starts. */
export async function readProjectConfig(root: string, config_path: string): Promise<ProjectConfig> {
  const path = posix.normalize(config_path);
  if (isAbsolute(path) || path.split('/').includes('..') || path.includes('\0')) {
    throw failure('config_path_invalid', `${config_path} is not a path within the repository.`, PATH_HINT);
  }
  const config = await read(root, path);
  const folder = dirname(path) === '.' ? '' : dirname(path);
  const { graphs, node_version } = config;
  if (usesPython(graphs)) {
    const hint = 'Deploy a project whose graphs are JavaScript or TypeScript.';
    throw failure(
      'python_project',
      `The graphs of ${path} are Python files, which this server does not run.`,
      hint,
    );
  }
  const version =
    typeof node_version === 'string' || typeof node_version === 'number' ? `${node_version}` : undefined;
  return { file: join(root, path), folder, node_version: version };
}

const PATH_HINT = 'Give the path of langgraph.json relative to the root of the repository.';

async function read(root: string, path: string): Promise<Record<string, unknown>> {
  const missing = failure(
    'config_missing',
    `The repository has no ${path}.`,
    `${PATH_HINT} Check that it was pushed.`,
  );
  if (/\.ya?ml$/.test(path)) {
    const text = await readProjectFile(root, path);
    if (!text) throw missing;
    if (text.length > MAX_PARSED_BYTES) {
      throw failure('config_invalid', `${path} has more than 1 MB.`, 'Shorten it, and push again.');
    }
    const { parse } = await import('yaml');
    try {
      return (parse(text.toString('utf8')) as Record<string, unknown> | null) ?? {};
    } catch (cause) {
      throw failure('config_invalid', `${path} is not valid YAML.`, 'Fix it, and push again.', cause);
    }
  }
  const json = await readProjectJson(root, path);
  if (!json) throw missing;
  if ('error' in json) {
    throw failure('config_invalid', `${path} is not valid: ${json.error}.`, 'Fix it, and push again.');
  }
  return json.value;
}

function usesPython(graphs: unknown): boolean {
  if (typeof graphs !== 'object' || graphs === null) return false;
  const paths = Object.values(graphs).map((graph) =>
    typeof graph === 'string' ? graph : (graph as { path?: unknown } | null)?.path,
  );
  return paths.some((path) => typeof path === 'string' && /\.py:/.test(path));
}

function failure(code: string, message: string, hint: string, cause?: unknown): BuildFailure {
  return new BuildFailure('config', { code, message, hint }, { cause });
}
