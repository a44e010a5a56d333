import {
  BuildFailure,
  type BuildStep,
  type FailureText,
  type KnownFailure,
  knownFailure,
} from '../build-failure.ts';
import type { CommandEnd } from '../process/command.ts';
import { stopFailure } from '../process/stops.ts';

/** What ssh prints in a build, which has no key and, behind the proxy, no network for it. */
const SSH_FAILED =
  /ssh: (?:Could not resolve hostname|connect to host)|Permission denied \(publickey|Host key verification failed|No user exists for uid|cannot run ssh/;
const SSH_ADDRESS = /(?:(?:git\+)?ssh:\/\/|\bgit@)[^\s'"`<>]{1,500}/;

/** A package in a repository that is addressed over ssh. */
function sshFailure(output: string): FailureText | undefined {
  if (!SSH_FAILED.test(output)) return undefined;
  const address = SSH_ADDRESS.exec(output)?.[0];
  return {
    code: 'dependency_over_ssh',
    message: `A dependency is fetched over ssh, which builds cannot use${address ? `: ${address}` : ''}.`,
    hint: 'Write its address as git+https://… in package.json and the lock file, or publish it to a registry.',
  };
}

/** Messages of npm, pnpm, yarn and bun, the more specific ones first. */
const INSTALL_FAILURES: readonly KnownFailure[] = [
  {
    // Otherwise bun continues without the file and reports that it does not match.
    pattern: /failed to parse lockfile: 'bun\.lockb?'/,
    code: 'lock_file_invalid',
    message: 'bun cannot read the lock file.',
    hint: 'Check it for conflict markers, regenerate it, and push again.',
  },
  {
    pattern: /No compatible signature found|Cannot find matching keyid/,
    code: 'package_manager_unverified',
    message: 'corepack cannot verify the package manager that it downloads.',
    hint: 'Have the operator of the server install the package manager, or update corepack.',
  },
  {
    pattern:
      /can only install packages when your package\.json and|ERR_PNPM_OUTDATED_LOCKFILE|YN0028|lockfile needs to be updated|lockfile had changes, but lockfile is frozen/,
    code: 'lock_file_out_of_date',
    message: 'The lock file does not match package.json.',
    hint: 'Install the packages locally, commit the lock file, and push again.',
  },
  {
    pattern:
      /ERR_PNPM_(BROKEN_LOCKFILE|LOCKFILE)|npm error code (EJSONPARSE|EUSAGE)|Failed to parse lockfile/i,
    code: 'lock_file_invalid',
    message: 'The package manager cannot read package.json or the lock file.',
    hint: 'Check them for conflict markers, regenerate the lock file, and push again.',
  },
  {
    pattern: /EINTEGRITY|ERR_PNPM_TARBALL_INTEGRITY|YN0018|[Ii]ntegrity check failed/,
    code: 'integrity_mismatch',
    message: 'The checksum of a package does not match the lock file.',
    hint: 'If the package was republished, regenerate the lock file; otherwise do not trust the package.',
  },
  {
    pattern: /npm error code E40[13]|ERR_PNPM_FETCH_40[13]|YN0041|Invalid authentication/,
    code: 'registry_refused',
    message: 'The registry denied access to a package: the build has no permission to read it.',
    hint: 'Builds see no secrets: have the operator set npm_config_registry to a registry or mirror that needs no token for reading.',
  },
  {
    pattern:
      /npm error code (E404|ETARGET)|ERR_PNPM_(FETCH_404|NO_MATCHING_VERSION)|YN0035|YN0082|No matching version/,
    code: 'package_not_found',
    message: 'A package, or the requested version of it, does not exist in the registry.',
    hint: 'Check its name and version and, for a private package, the registry in .npmrc.',
  },
  {
    pattern: /npm error code ERESOLVE|ERR_PNPM_PEER_DEP_ISSUES/,
    code: 'dependencies_conflict',
    message: 'The packages require conflicting versions of each other.',
    hint: 'Resolve the conflict locally, commit the lock file, and push again.',
  },
  {
    pattern: /EBADENGINE|ERR_PNPM_UNSUPPORTED_ENGINE|YN0086|incompatible with this module/,
    code: 'engines_not_met',
    message: 'A package does not support the Node version of this server.',
    hint: 'Use a version of the package that does, or have the operator run the server with another Node version.',
  },
  {
    pattern:
      /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|ENETUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT/,
    code: 'registry_unreachable',
    message: 'The package registry cannot be reached.',
    hint: 'Check that the server has access to it, then deploy again.',
  },
  {
    pattern: /ENOSPC|No space left on device/,
    code: 'disk_full',
    message: 'The disk of the server is full.',
    hint: 'Delete old revisions, or have the operator free space.',
  },
  {
    pattern: /EFBIG|File too large/,
    code: 'disk_limit',
    message: 'The build wrote a file that exceeds its disk limit.',
    hint: 'Remove large files, or have the operator raise the disk limit of builds.',
  },
  {
    pattern: /JavaScript heap out of memory|ENOMEM/,
    code: 'memory_limit',
    message: 'A process of the build ran out of memory.',
    hint: 'Reduce the memory use of the build, or set NODE_OPTIONS in its command.',
  },
  {
    pattern: /Cannot fork|fork: (?:retry: )?Resource temporarily unavailable|spawn \S{1,200} EAGAIN/,
    code: 'process_limit',
    message: 'The build could not start another process: too many are running.',
    hint: 'Check for a script that starts itself repeatedly; otherwise have the operator raise the process limit.',
  },
  {
    pattern: /gyp ERR!|node-gyp/,
    code: 'native_build_failed',
    message: 'A package with native code could not be compiled.',
    hint: 'Use a version with prebuilt binaries for this platform, or have the operator install a compiler.',
  },
];

interface Program {
  readonly step: BuildStep;
  /** Name of the command: `npm ci`, or the user's own. */
  readonly name: string;
  /** What the command does, to complete "while …". */
  readonly doing: string;
}

/** Maps the exit of an install or build command to a failure; `undefined` if it succeeded. */
export function commandFailure({ step, name, doing }: Program, end: CommandEnd): BuildFailure | undefined {
  const stopped = stopFailure(step, end, doing);
  if (stopped) return stopped;
  if (end.code === 0) return undefined;
  const known = sshFailure(end.output) ?? knownFailure(INSTALL_FAILURES, end.output);
  // A build command may print anything, so its output is no evidence.
  if (known && step === 'install') return new BuildFailure(step, known);
  const missing = /([\w@./-]{1,100}): (?:command )?not found/.exec(end.output)?.[1];
  if (end.code === 127 || (end.code === 1 && missing && step === 'build')) {
    return new BuildFailure(step, {
      code: 'command_not_found',
      message: `${name} uses the program ${missing ?? 'it names'}, which the build does not have.`,
      hint: 'Add it to the dependencies of the project, or have the operator install it on the server.',
    });
  }
  return new BuildFailure(step, {
    code: step === 'install' ? 'install_failed' : 'build_failed',
    message: `${name} ended with exit code ${end.code}.`,
    hint: 'See the last lines of the build log for the reason.',
  });
}
