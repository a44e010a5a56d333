import { join } from 'node:path';
import { removeTree } from '../../../core/remove-tree.ts';
import { type BuildContext, buildContext } from './build-context.ts';
import { BuildFailure } from './build-failure.ts';
import { copyFolder } from './copy-folder.ts';
import { type BuildFolders, buildFolders } from './folders.ts';
import { type Checkout, checkoutSource } from './git/checkout.ts';
import { buildEnvironment, projectCommands } from './install/commands.ts';
import { type Installed, installPackages } from './install/install.ts';
import { writeRecord } from './install/reuse.ts';
import { openSandbox, type Sandbox } from './process/sandbox.ts';
import { type ProjectConfig, readProjectConfig } from './project/config-file.ts';
import { checkNodeVersion } from './project/node-version.ts';
import { type InstallPlan, installPlan } from './project/package-manager.ts';
import { projectTree } from './project/tree.ts';
import type { BuildRequest, BuiltRevision } from './request.ts';
import { extractTarball } from './tarball/extract.ts';

export { BuildFailure } from './build-failure.ts';
export { createDeployKey } from './deploy-key.ts';
export { resolveRef } from './git/resolve-ref.ts';
export type { BuildRequest, BuiltRevision } from './request.ts';

/**
 * Fetches the source of a revision, installs its packages and runs its build command. Rejects with a `BuildFailure`,
 * and then leaves no source behind. Starts an interrupted build over.
 */
export async function buildRevision(request: BuildRequest): Promise<BuiltRevision> {
  const context = buildContext(request);
  const folders = await context.attempt('source', 'preparing the folders', () => buildFolders(request));
  try {
    return await buildIn(folders, context);
  } catch (error) {
    await removeTree(folders.root);
    throw error;
  } finally {
    await folders.close();
  }
}

async function buildIn(folders: BuildFolders, context: BuildContext): Promise<BuiltRevision> {
  const { root } = folders;
  const { request } = context;
  const checkout = await context.step('source', 'fetching the source', () => fetchSource(context, root));
  const { config, plan } = await context.step('config', 'reading the configuration', () =>
    readProject(context, root),
  );
  const { commands, installed, ...opened } = await context.step('install', 'installing the packages', () =>
    install(context, folders, plan),
  );
  using sandbox = opened.sandbox;
  const { build_command } = request;
  const cwd = join(root, config.folder);
  if (build_command) {
    await context.step('build', 'running the build command', () =>
      commands.run({
        step: 'build',
        name: build_command,
        doing: 'running the build command',
        argv: ['/bin/sh', '-c', build_command],
        cwd,
        path: [join(cwd, 'node_modules/.bin'), join(root, 'node_modules/.bin')],
      }),
    );
  }
  await context.attempt('build', 'recording the build', () => finish(context, folders, installed, sandbox));
  return {
    commit: checkout?.commit,
    known_hosts: checkout?.known_hosts,
    package_manager: installed.package_manager,
    reused_modules: installed.reused_modules,
    root,
    config_file: config.file,
    isolation: sandbox.isolation,
    network: sandbox.network,
  };
}

async function fetchSource(context: BuildContext, root: string): Promise<Checkout | undefined> {
  const { source, limits } = context.request;
  if (source.kind === 'git') return await checkoutSource(context, source, root);
  if (source.kind === 'folder') await copyFolder(context, source.path, root);
  else await extractTarball(source.file, root, { max_bytes: limits.disk_bytes }, context.signal);
  return undefined;
}

async function readProject(
  context: BuildContext,
  root: string,
): Promise<{ config: ProjectConfig; plan: InstallPlan | undefined }> {
  const { config_path, install_command } = context.request;
  const config = await readProjectConfig(root, config_path);
  const plan = await installPlan(root, config.folder);
  if (!plan && !install_command) {
    throw new BuildFailure('config', {
      code: 'package_json_missing',
      message: `The repository has no package.json next to ${config_path} or in a folder above it.`,
      hint: 'Add one that lists the dependencies of the project, or give the deployment an install command.',
    });
  }
  const { node_version } = config;
  const warnings = checkNodeVersion({ engines: plan?.manifest['engines'], node_version });
  context.log('config', 'INFO', `Graphs run on Node ${process.version}.`);
  for (const warning of warnings) context.log('config', 'WARNING', warning);
  return { config, plan };
}

async function install(context: BuildContext, folders: BuildFolders, plan: InstallPlan | undefined) {
  const env = buildEnvironment(context, folders);
  const sandbox = await sandboxFor(context, folders, env);
  try {
    const commands = projectCommands(context, folders, sandbox, env);
    const installed = await installPackages({ context, folders, sandbox, commands, plan, env });
    return { sandbox, commands, installed };
  } catch (error) {
    sandbox[Symbol.dispose]();
    throw error;
  }
}

async function sandboxFor(
  context: BuildContext,
  { root, home, tmp, cache, handOver }: BuildFolders,
  env: Readonly<Record<string, string>>,
): Promise<Sandbox> {
  const readable = [context.env['NODE_EXTRA_CA_CERTS'], context.env['SSL_CERT_FILE']];
  const sandbox = await openSandbox({
    allowed: context.request.isolations,
    key: context.request.cache,
    writable: [root, home, tmp, cache],
    tmp,
    readable: readable.filter((file) => file !== undefined),
    env,
    server_env: context.env,
    checkEgress: context.request.checkEgress ?? context.request.checkAddress,
    onRefused: (host, reason) =>
      context.log('install', 'WARNING', `The build may not connect to ${host}: ${reason}.`),
    handOver,
  });
  context.log('install', sandbox.isolation === 'bwrap' ? 'INFO' : 'WARNING', sandbox.note);
  return sandbox;
}

/** Written last: only a completely built revision has this record. */
async function finish(
  { request }: BuildContext,
  { root }: BuildFolders,
  { fingerprint }: Installed,
  sandbox: Sandbox,
): Promise<void> {
  await removeTree(join(root, '.git'));
  const { modules } = await projectTree(root);
  await writeRecord(request.folder, { fingerprint, modules, uid: sandbox.uid ?? null });
}
