import { truncateText } from '../../../../core/text.ts';
import { BuildFailure, type KnownFailure, knownFailure } from '../build-failure.ts';
import type { CommandEnd } from '../process/command.ts';
import { stopFailure } from '../process/stops.ts';

/** Messages of git and ssh with `LC_ALL=C`, the more specific ones first. */
const GIT_FAILURES: readonly KnownFailure[] = [
  {
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed/,
    code: 'host_key_changed',
    message: 'The ssh host key of the repository’s host does not match the pinned key.',
    hint: 'Verify the new key with the operator of that host, then remove the pinned key from the deployment.',
  },
  {
    pattern: /Load key .{0,300}(passphrase|libcrypto|invalid format)/,
    code: 'deploy_key_unusable',
    message: 'ssh cannot read the deploy key.',
    hint: 'Use a private key in OpenSSH format without a passphrase.',
  },
  {
    pattern: /No user exists for uid/,
    code: 'server_user_unknown',
    message: 'ssh cannot run because the server’s user has no entry in /etc/passwd.',
    hint: 'Use the https address of the repository, or have the operator add an entry for that user.',
  },
  {
    pattern: /Permission denied \(|Too many authentication failures/,
    code: 'authentication_refused',
    message: 'The host rejected the deploy key.',
    hint: 'Add the public key to the repository as a deploy key.',
  },
  {
    pattern: /could not read Username|terminal prompts disabled|could not read Password/,
    code: 'authentication_required',
    message: 'The repository does not exist, or it is private and no credentials were given.',
    hint: 'Check the address, and give the deployment a token or a deploy key.',
  },
  {
    pattern: /Authentication failed|returned error: 40[13]|HTTP Basic: Access denied|Invalid username or/,
    code: 'authentication_refused',
    message: 'The host rejected the token.',
    hint: 'Check that the token is valid and may read this repository.',
  },
  {
    pattern: /unable to update url base from redirection|returned error: 30[12378]/,
    code: 'repository_moved',
    message: 'The host responded with a redirect, which the server does not follow.',
    hint: 'Use the current address of the repository; some hosts require it to end in .git.',
  },
  {
    pattern: /[Cc]ould not resolve host|Name or service not known|nodename nor servname/,
    code: 'host_unknown',
    message: 'The host name of the repository cannot be resolved.',
    hint: 'Check the spelling of the address and the DNS settings of the server.',
  },
  {
    pattern: /certificate|SSL routines|gnutls_handshake/i,
    code: 'certificate_untrusted',
    message: 'The server does not trust the TLS certificate of the host.',
    hint: 'Have the operator add the host’s certificate authority to the server.',
  },
  {
    pattern: /dubious ownership/,
    code: 'repository_of_another_user',
    message: 'The repository on this machine belongs to a different user than the server.',
    hint: 'Change the owner of the repository, or use https or ssh.',
  },
  {
    pattern:
      /returned error: 404|[Rr]epository.{0,300} not found|does not appear to be a git repository|[Nn]o such (project|repository)|not found: did you run git update-server-info/,
    code: 'repository_not_found',
    message: 'The repository was not found.',
    hint: 'Check the address and, for a private repository, the credentials.',
  },
  {
    pattern:
      /couldn't find remote ref|[Rr]emote branch .{0,300} not found|not our ref|no such remote ref|unadvertised object/,
    code: 'ref_not_found',
    message: 'The repository has no such branch, tag or commit.',
    hint: 'Check the name, and that it was pushed.',
  },
  {
    pattern:
      /Failed to connect|Connection refused|Connection timed out|timed out|Couldn't connect|No route to host|Connection reset|Connection closed|Operation too slow|early EOF|the remote end hung up/,
    code: 'host_unreachable',
    message: 'The host of the repository cannot be reached or closed the connection.',
    hint: 'Check that the host is up and that the server may connect to it; then deploy again.',
  },
  {
    pattern: /No space left on device/,
    code: 'disk_full',
    message: 'The disk of the server is full.',
    hint: 'Delete old revisions, or have the operator free space.',
  },
  {
    pattern: /File too large/,
    code: 'disk_limit',
    message: 'The repository contains a file that exceeds the disk limit of builds.',
    hint: 'Remove large files from the repository, or have the operator raise the disk limit of builds.',
  },
];

/** Maps the exit of a git command to a build failure. */
export function gitFailure(end: CommandEnd): BuildFailure {
  const stopped = stopFailure('source', end, 'fetching the source');
  if (stopped) return stopped;
  const known = knownFailure(GIT_FAILURES, end.output);
  if (known) return new BuildFailure('source', known);
  const line = end.output.split('\n').findLast((text) => /^(fatal|error):/.test(text)) ?? '';
  return new BuildFailure('source', {
    code: 'git_failed',
    message: `git ended with ${end.code === null ? end.signal : `exit code ${end.code}`}: ${truncateText(line, 300)}`,
    hint: 'See the output of git in the build log.',
  });
}
