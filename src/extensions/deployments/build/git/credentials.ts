import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GitSource } from '../request.ts';
import type { GitAddress } from './address.ts';

/** How a git command authenticates. No environment variable or argument contains a secret. */
export interface GitSignIn {
  readonly env: Readonly<Record<string, string>>;
  /** Input of the askpass program, on file descriptor 3. */
  readonly pipe?: string | undefined;
  /** Accepted host keys; `undefined` unless the repository is reached over ssh. */
  knownHosts(): Promise<string | undefined>;
}

/**
 * Answers git's two questions from the pipe: first the user name, then the token. It answers nothing to another host,
 * such as that of a submodule. `read` of a pipe takes single bytes, and leaves the second line for the second call.
 */
const ASKPASS = `#!/bin/sh
case "$1" in
  "Username for 'https://$AGENT_SERVER_GIT_HOST': ") ;;
  "Password for 'https://"*"@$AGENT_SERVER_GIT_HOST': ") ;;
  *) exit 1 ;;
esac
IFS= read -r answer <&3 && printf '%s\\n' "$answer"
`;

/** Writes git's credentials into a folder that only the server's user can read; the caller removes it. */
export async function prepareSignIn(
  folder: string,
  address: GitAddress,
  { credentials }: GitSource,
): Promise<GitSignIn> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const none = { env: {}, knownHosts: async () => undefined };
  if (address.protocol === 'ssh') return await prepareSsh(folder, address, credentials);
  if (address.protocol !== 'https' || credentials?.kind !== 'token') return none;
  const askpass = join(folder, 'askpass');
  await writeFile(askpass, ASKPASS, { mode: 0o700 });
  const username = credentials.username || usualUsername(address.hostname);
  return {
    ...none,
    env: { GIT_ASKPASS: askpass, AGENT_SERVER_GIT_HOST: address.host },
    pipe: `${oneLine(username)}\n${oneLine(credentials.token)}\n`,
  };
}

/** User name that a git service expects with a token; most accept any. */
function usualUsername(hostname: string): string {
  if (hostname.includes('gitlab')) return 'oauth2';
  if (hostname.includes('bitbucket')) return 'x-token-auth';
  return 'x-access-token';
}

function oneLine(text: string): string {
  return text.trim().replace(/[\r\n]/g, '');
}

async function prepareSsh(
  folder: string,
  address: GitAddress,
  credentials: GitSource['credentials'],
): Promise<GitSignIn> {
  const key = join(folder, 'deploy_key');
  const hosts = join(folder, 'known_hosts');
  const isKey = credentials?.kind === 'deploy_key';
  const pinned = (isKey && credentials.known_hosts?.trim()) || '';
  const isPinned = hasKeyOf(pinned, address);
  // ssh rejects a key without a final line break, and one that others can read.
  if (isKey) await writeFile(key, `${credentials.private_key.trim()}\n`, { mode: 0o600 });
  if (isKey) await chmod(key, 0o600);
  await writeFile(hosts, pinned && `${pinned}\n`, { mode: 0o600 });
  const options = {
    ...(isKey ? { IdentityFile: key, IdentitiesOnly: 'yes' } : { PubkeyAuthentication: 'no' }),
    BatchMode: 'yes',
    ClearAllForwardings: 'yes',
    ConnectTimeout: '20',
    ForwardAgent: 'no',
    GlobalKnownHostsFile: '/dev/null',
    HashKnownHosts: 'no',
    IdentityAgent: 'none',
    PermitLocalCommand: 'no',
    ServerAliveInterval: '15',
    StrictHostKeyChecking: isPinned ? 'yes' : 'accept-new',
    UpdateHostKeys: 'no',
    UserKnownHostsFile: hosts,
    ...(address.pinned !== undefined && { HostName: address.pinned, HostKeyAlias: address.hostname }),
  };
  // ssh itself splits a value without quotes at spaces.
  const words = Object.entries(options).map(
    ([name, value]) => `-o '${name}="${value.replaceAll("'", "'\\''")}"'`,
  );
  return {
    env: { GIT_SSH_COMMAND: `ssh -F /dev/null ${words.join(' ')}`, GIT_SSH_VARIANT: 'ssh' },
    knownHosts: async () => (await readFile(hosts, 'utf8')).trim() || undefined,
  };
}

/** Whether `known_hosts` has a key of this host. If so, ssh must not accept a new key of another type. */
function hasKeyOf(known_hosts: string, { hostname, port }: GitAddress): boolean {
  const names = [hostname, `[${hostname}]:${port}`].map((name) => name.toLowerCase());
  const pinned = known_hosts.split('\n').flatMap((line) => (line.split(' ')[0] as string).split(','));
  return pinned.some((name) => names.includes(name.toLowerCase()));
}
