import { BuildFailure, type BuildStep, type KnownFailure, knownFailure } from '../build-failure.ts';
import type { CommandEnd } from '../process/command.ts';
import { stopFailure } from '../process/stops.ts';

/** What npm, pnpm, yarn and bun print. The more specific message first. */
const INSTALL_FAILURES: readonly KnownFailure[] = [
  {
    // bun goes on without the file then, and says that it does not fit.
    pattern: /failed to parse lockfile: 'bun\.lockb?'/,
    code: 'lock_file_invalid',
    message: 'bun cannot read the lock file.',
    hint: 'Check it for conflict markers, write it anew, and push again.',
  },
  {
    pattern: /No compatible signature found|Cannot find matching keyid/,
    code: 'package_manager_unverified',
    message: 'corepack cannot verify the package manager that it would bring.',
    hint: 'Have the operator of the server install the package manager, or update corepack.',
  },
  {
    pattern:
      /can only install packages when your package\.json and|ERR_PNPM_OUTDATED_LOCKFILE|YN0028|lockfile needs to be updated|lockfile had changes, but lockfile is frozen/,
    code: 'lock_file_out_of_date',
    message: 'The lock file does not fit package.json.',
    hint: 'Install the packages on your machine, commit the lock file, and push again.',
  },
  {
    pattern:
      /ERR_PNPM_(BROKEN_LOCKFILE|LOCKFILE)|npm error code (EJSONPARSE|EUSAGE)|Failed to parse lockfile/i,
    code: 'lock_file_invalid',
    message: 'The package manager cannot read package.json or the lock file.',
    hint: 'Check them for conflict markers, write the lock file anew, and push again.',
  },
  {
    pattern: /EINTEGRITY|ERR_PNPM_TARBALL_INTEGRITY|YN0018|[Ii]ntegrity check failed/,
    code: 'integrity_mismatch',
    message: 'A package is not the one that the lock file names.',
    hint: 'Write the lock file anew if the package was published again; otherwise do not trust it.',
  },
  {
    pattern: /npm error code E40[13]|ERR_PNPM_FETCH_40[13]|YN0041|Invalid authentication/,
    code: 'registry_refused',
    message: 'The registry refused a package: the build has no permission to read it.',
    hint: 'Give the deployment the token that the project’s .npmrc refers to.',
  },
  {
    pattern:
      /npm error code (E404|ETARGET)|ERR_PNPM_(FETCH_404|NO_MATCHING_VERSION)|YN0035|YN0082|No matching version/,
    code: 'package_not_found',
    message: 'A package or a version of it does not exist in the registry.',
    hint: 'Check its name and version; of a private package also the registry in .npmrc.',
  },
  {
    pattern: /npm error code ERESOLVE|ERR_PNPM_PEER_DEP_ISSUES/,
    code: 'dependencies_conflict',
    message: 'The packages ask for versions of each other that do not fit together.',
    hint: 'Resolve the conflict on your machine, commit the lock file, and push again.',
  },
  {
    pattern: /EBADENGINE|ERR_PNPM_UNSUPPORTED_ENGINE|YN0086|incompatible with this module/,
    code: 'engines_not_met',
    message: 'A package does not support the Node of this server.',
    hint: 'Use a version of the package that does, or have the operator run the server with another Node.',
  },
  {
    pattern:
      /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET|ENETUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT/,
    code: 'registry_unreachable',
    message: 'The registry of the packages cannot be reached.',
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
    message: 'The build wrote a file that is larger than its disk limit.',
    hint: 'Remove large files, or have the operator raise the disk limit of builds.',
  },
  {
    pattern: /JavaScript heap out of memory|ENOMEM/,
    code: 'memory_limit',
    message: 'A process of the build ran out of memory.',
    hint: 'Make the build use less memory, or set NODE_OPTIONS in its command.',
  },
  {
    pattern: /Cannot fork|fork: (?:retry: )?Resource temporarily unavailable|spawn \S{1,200} EAGAIN/,
    code: 'process_limit',
    message: 'A program of the build could not start another: too many processes run.',
    hint: 'Check whether a script starts itself again and again; else have the operator raise the limit of processes.',
  },
  {
    pattern: /gyp ERR!|node-gyp/,
    code: 'native_build_failed',
    message: 'A package with native code could not be compiled.',
    hint: 'Use a version with binaries for this platform, or have the operator install a compiler.',
  },
];

interface Program {
  readonly step: BuildStep;
  /** As users know it: `npm ci`, or their own command. */
  readonly name: string;
  /** Completes "while …". */
  readonly doing: string;
}

/** The failure that the end of an install or a build stands for; `undefined` if it ended well. */
export function commandFailure({ step, name, doing }: Program, end: CommandEnd): BuildFailure | undefined {
  const stopped = stopFailure(step, end, doing);
  if (stopped) return stopped;
  if (end.code === 0) return undefined;
  const known = knownFailure(INSTALL_FAILURES, end.output);
  // The commands of a project may print anything.
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
    hint: 'The last lines of the build log say why.',
  });
}
