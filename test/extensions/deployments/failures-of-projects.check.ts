import { lockFile, MB, PROJECT, pack, projectWithScript } from '../../support/builds.ts';
import { describeFailures, type FailingBuild, withLimits } from '../../support/failing-builds.ts';

const PROJECTS: FailingBuild[] = [
  {
    name: 'a configuration that is missing',
    step: 'config',
    code: 'config_missing',
    files: { 'package.json': {} },
  },
  {
    name: 'a configuration outside the repository',
    step: 'config',
    code: 'config_path_invalid',
    request: { config_path: '../other/langgraph.json' },
  },
  {
    name: 'a configuration that is not JSON',
    step: 'config',
    code: 'config_invalid',
    files: { ...PROJECT, 'langgraph.json': '{"graphs":' },
  },
  {
    name: 'a huge configuration',
    step: 'config',
    code: 'config_invalid',
    files: { ...PROJECT, 'langgraph.json': '{}'.padEnd(MB + 1) },
  },
  {
    name: 'a huge configuration in YAML',
    step: 'config',
    code: 'config_invalid',
    files: { ...PROJECT, 'agent.config.yaml': 'graphs: {}'.padEnd(MB + 1) },
    request: { config_path: 'agent.config.yaml' },
  },
  {
    name: 'a huge package.json',
    step: 'config',
    code: 'package_json_invalid',
    files: { ...PROJECT, 'package.json': '{}'.padEnd(MB + 1) },
  },
  {
    name: 'graphs in Python',
    step: 'config',
    code: 'python_project',
    files: { 'langgraph.json': { graphs: { a: './a.py:graph' } } },
  },
  {
    name: 'a project without package.json',
    step: 'config',
    code: 'package_json_missing',
    files: { 'langgraph.json': {} },
  },
  {
    name: 'a package.json that is not JSON',
    step: 'config',
    code: 'package_json_invalid',
    files: { ...PROJECT, 'package.json': '<<<<<<< HEAD' },
  },
  {
    name: 'a Node that the project excludes',
    step: 'config',
    code: 'engines_not_met',
    files: { ...PROJECT, 'package.json': { engines: { node: '>=99' } } },
  },
  {
    name: 'a Node that the configuration does not have yet',
    step: 'config',
    code: 'engines_not_met',
    files: { ...PROJECT, 'langgraph.json': { node_version: '99' } },
  },
];

const COMMANDS: FailingBuild[] = [
  {
    name: 'a lock file that does not fit',
    step: 'install',
    code: 'lock_file_out_of_date',
    request: async (deployment) => {
      const manifest = { name: 'project', version: '1.0.0' };
      const packages = { 'node_modules/left': { version: '1.0.0', resolved: 'file:left-1.tgz' } };
      const path = await deployment.write('locked', {
        ...PROJECT,
        'package.json': { ...manifest, dependencies: { left: 'file:left-2.tgz' } },
        'package-lock.json': lockFile({ ...manifest, dependencies: { left: 'file:left-1.tgz' } }, packages),
      });
      for (const n of [1, 2])
        await pack(path, `left-${n}`, { 'package.json': { name: 'left', version: `${n}.0.0` } });
      return { source: { kind: 'folder', path } };
    },
  },
  {
    name: 'a package that is not among the sources',
    step: 'install',
    code: 'local_dependency_missing',
    files: { ...PROJECT, 'package.json': { dependencies: { left: 'file:left-3.tgz' } } },
  },
  {
    name: 'a package outside of the sources, which may exist',
    step: 'install',
    code: 'local_dependency_missing',
    files: {
      ...PROJECT,
      'package.json': { dependencies: { left: 'file:../../../../../../../../../../tmp' } },
    },
  },
  {
    name: 'an invalid lock file',
    step: 'install',
    code: 'lock_file_invalid',
    files: { ...PROJECT, 'package.json': { dependencies: { a: '1' } }, 'package-lock.json': '<<<<<<< HEAD' },
  },
  {
    name: 'a registry that does not answer',
    step: 'install',
    code: 'registry_unreachable',
    files: {
      ...PROJECT,
      'package.json': { dependencies: { left: '1.0.0' } },
      '.npmrc': 'registry=http://127.0.0.1:1/\nfetch-retries=0\n',
    },
  },
  {
    name: 'a package manager that is missing',
    step: 'install',
    code: 'package_manager_missing',
    files: { ...PROJECT, 'bun.lock': '{}' },
    request: { env: { PATH: '/usr/bin:/bin' } },
  },
  {
    name: 'an install script that fails',
    step: 'install',
    code: 'install_failed',
    files: projectWithScript('process.exit(3)'),
  },
  {
    name: 'an install script that hangs',
    step: 'install',
    code: 'time_limit',
    files: projectWithScript('setInterval(() => {}, 1000)'),
    request: withLimits({ seconds: 5 }),
  },
  {
    name: 'an install script that fills the disk with many files',
    step: 'install',
    code: 'disk_limit',
    files: projectWithScript(`
      import { writeFileSync } from 'node:fs';
      for (let n = 0; n < 40; n++) writeFileSync('file-' + n, Buffer.alloc(1024 * 1024, 'x'));
      setInterval(() => {}, 1000);`),
    request: withLimits({ disk_bytes: 20 * MB }),
  },
  {
    name: 'an install script that writes one large file',
    step: 'install',
    code: 'disk_limit',
    files: projectWithScript(
      "(await import('node:fs')).writeFileSync('large', Buffer.alloc(40 * 1024 * 1024))",
    ),
    request: withLimits({ disk_bytes: 20 * MB }),
  },
  {
    name: 'an install script that takes too much memory',
    step: 'install',
    code: 'memory_limit',
    files: projectWithScript(
      'globalThis.kept = Buffer.alloc(600 * 1024 * 1024, 1); setInterval(() => {}, 1000)',
    ),
    request: withLimits({ memory_bytes: 500 * MB }),
  },
  {
    name: 'an install command whose program is missing',
    step: 'install',
    code: 'command_not_found',
    request: { install_command: 'no-such-program --now' },
  },
  {
    name: 'an install command that fails',
    step: 'install',
    code: 'install_failed',
    request: { install_command: 'echo something is wrong; exit 4' },
  },
  {
    name: 'a build command that fails',
    step: 'build',
    code: 'build_failed',
    request: { build_command: 'exit 2' },
  },
  {
    name: 'a build command whose program is missing',
    step: 'build',
    code: 'command_not_found',
    request: { build_command: 'no-such-compiler' },
  },
  {
    name: 'a build command that is killed',
    step: 'build',
    code: 'killed',
    request: { build_command: 'kill -9 $$' },
  },
  {
    name: 'a build that is interrupted before it begins',
    step: 'source',
    code: 'aborted',
    request: { signal: AbortSignal.abort() },
  },
];

describeFailures([...PROJECTS, ...COMMANDS]);
