import { truncateText } from '../../core/text.ts';
import { BuildFailure, type KnownFailure, knownFailure } from '../build-failure.ts';
import type { CommandEnd } from '../process/command.ts';
import { stopFailure } from '../process/stops.ts';

/** What git and ssh print with `LC_ALL=C`. The more specific message first. */
const GIT_FAILURES: readonly KnownFailure[] = [
  {
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed/,
    code: 'host_key_changed',
    message: 'The host of the repository did not show the ssh key that was pinned.',
    hint: 'Check its new key with the operator of the host, then remove the pinned key from the deployment.',
  },
  {
    pattern: /Load key .{0,300}(passphrase|libcrypto|invalid format)/,
    code: 'deploy_key_unusable',
    message: 'The deploy key cannot be read by ssh.',
    hint: 'Give a private key in OpenSSH’s format that has no passphrase.',
  },
  {
    pattern: /No user exists for uid/,
    code: 'server_user_unknown',
    message: 'ssh does not run, because the server’s user has no entry in /etc/passwd.',
    hint: 'Use the https address of the repository, or have the operator give that user an entry.',
  },
  {
    pattern: /Permission denied \(|Too many authentication failures/,
    code: 'authentication_refused',
    message: 'The host refused the deploy key.',
    hint: 'Add the public half of the key to the repository as a deploy key.',
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
    message: 'The host refused the token.',
    hint: 'Check that the token is valid and may read this repository.',
  },
  {
    pattern: /unable to update url base from redirection|returned error: 30[12378]/,
    code: 'repository_moved',
    message: 'The host answered with a redirect, which is not followed.',
    hint: 'Use the address that the repository has now; some hosts need .git at its end.',
  },
  {
    pattern: /[Cc]ould not resolve host|Name or service not known|nodename nor servname/,
    code: 'host_unknown',
    message: 'The host of the repository is unknown.',
    hint: 'Check the spelling of the address, and the DNS of the server.',
  },
  {
    pattern: /certificate|SSL routines|gnutls_handshake/i,
    code: 'certificate_untrusted',
    message: 'The certificate of the host is not trusted.',
    hint: 'Have the operator of the server add the certificate authority of the host.',
  },
  {
    pattern: /dubious ownership/,
    code: 'repository_of_another_user',
    message: 'The repository on this machine belongs to another user than the server.',
    hint: 'Change the owner of the repository, or use https or ssh.',
  },
  {
    pattern:
      /returned error: 404|[Rr]epository.{0,300} not found|does not appear to be a git repository|[Nn]o such (project|repository)|not found: did you run git update-server-info/,
    code: 'repository_not_found',
    message: 'The repository was not found.',
    hint: 'Check the address; of a private repository also the credentials.',
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
    message: 'The host of the repository cannot be reached, or broke off the connection.',
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
    message: 'The repository holds a file that is larger than a build may be.',
    hint: 'Remove large files from the repository, or have the operator raise the disk limit of builds.',
  },
];

/** The failure that the end of a git command stands for. */
export function gitFailure(end: CommandEnd): BuildFailure {
  const stopped = stopFailure('source', end, 'fetching the source');
  if (stopped) return stopped;
  const known = knownFailure(GIT_FAILURES, end.output);
  if (known) return new BuildFailure('source', known);
  const line = end.output.split('\n').findLast((text) => /^(fatal|error):/.test(text)) ?? '';
  return new BuildFailure('source', {
    code: 'git_failed',
    message: `git ended with ${end.code === null ? end.signal : `exit code ${end.code}`}: ${truncateText(line, 300)}`,
    hint: 'Read the lines of git in the build log.',
  });
}
