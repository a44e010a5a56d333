import { fileURLToPath } from 'node:url';
import { BuildFailure } from '../build-failure.ts';
import type { GitAccess } from '../request.ts';

/** A repository address that the policy permits. */
export interface GitAddress {
  /** URL for git, without a password. */
  readonly url: string;
  readonly protocol: 'https' | 'ssh' | 'file';
  /** Host, with the port unless it is the default one; empty for `file:`. */
  readonly host: string;
  readonly hostname: string;
  readonly port: number;
  /** The only address to connect to, if the policy named one. */
  readonly pinned?: string | undefined;
}

/** `git@github.com:owner/name.git`. A path that begins with a slash is one of `ssh://`, as git reads it. */
const SCP_LIKE = /^([\w.-]{1,64})@([A-Za-z0-9][A-Za-z0-9.-]{0,252}):([^\s:][^\s]{0,1000})$/;
const MAX_URL_LENGTH = 2000;

/** Parses a repository address and checks with the policy that the server may connect to it. */
export async function checkedAddress(text: string, access: GitAccess): Promise<GitAddress> {
  const address = parseGitUrl(text, access.allow_file_urls === true);
  if (address.protocol === 'file') return address;
  try {
    // The policy checks hosts and ports, not git's schemes.
    const port = address.port === 443 ? '' : `:${address.port}`;
    const pinned = await access.checkAddress(new URL(`https://${address.hostname}${port}/`));
    return typeof pinned === 'string' ? { ...address, pinned } : address;
  } catch (cause) {
    throw new BuildFailure(
      'source',
      {
        code: 'address_forbidden',
        message: `The server must not connect to ${address.hostname}: ${(cause as Error).message}.`,
        hint: 'Use a repository on a public host, or have the operator allow this one.',
      },
      { cause },
    );
  }
}

function parseGitUrl(text: string, allow_file_urls: boolean): GitAddress {
  if (text.length > MAX_URL_LENGTH || hasControlOrSpace(text) || text.startsWith('-')) {
    throw invalid('The address of the repository is not a URL.');
  }
  const scp = SCP_LIKE.exec(text);
  if (scp) return { url: text, protocol: 'ssh', host: scp[2]!, hostname: scp[2]!, port: 22 };
  const url = URL.parse(text);
  if (!url) throw invalid('The address of the repository is not a URL.');
  if (url.password || (url.protocol === 'https:' && url.username)) {
    throw new BuildFailure('source', {
      code: 'credentials_in_url',
      message: 'The address of the repository contains a user name or a password.',
      hint: 'Remove it from the address, and store the token in the credentials of the deployment.',
    });
  }
  if (url.protocol === 'https:') return remote(url, 'https', 443);
  if (url.protocol === 'ssh:') return remote(url, 'ssh', 22);
  if (url.protocol === 'file:') return localAddress(url, allow_file_urls);
  throw invalid(`Repositories over ${url.protocol.replace(':', '')} are not supported.`);
}

function remote(url: URL, protocol: 'https' | 'ssh', usualPort: number): GitAddress {
  const { hostname, port } = url;
  // ssh would parse such a host as an option.
  if (!hostname || hostname.startsWith('-') || /^%2d/i.test(hostname) || /^-|^%2d/i.test(url.username)) {
    throw invalid('The address of the repository has no valid host.');
  }
  if (url.search || url.hash) throw invalid('The address of the repository must end with its path.');
  const host = port ? `${hostname}:${port}` : hostname;
  return { url: url.href, protocol, host, hostname, port: Number(port || usualPort) };
}

function localAddress(url: URL, allowed: boolean): GitAddress {
  if (!allowed) {
    throw new BuildFailure('source', {
      code: 'file_urls_forbidden',
      message: 'Repositories and folders on the server’s own machine are not allowed.',
      hint: 'Use https or ssh, or have the operator allow file: addresses.',
    });
  }
  if (url.host) throw invalid('A file: address must not name a host: write file:///path.');
  return { url: `file://${fileURLToPath(url)}`, protocol: 'file', host: '', hostname: '', port: 0 };
}

const FULL_COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
const REF = /^[\p{L}\p{N}_][\p{L}\p{N}_./@+=#%&,()-]{0,254}$/u;

export function isCommitId(ref: string): boolean {
  return FULL_COMMIT.test(ref);
}

/** Throws unless git accepts the name and cannot parse it as an option, a range or a pattern. */
export function checkRef(ref: string): void {
  const isForbidden =
    !REF.test(ref) || ref.endsWith('/') || ref.endsWith('.') || /\.\.|\/\/|\/\.|@\{|\.lock(\/|$)/.test(ref);
  if (isForbidden) {
    throw new BuildFailure('source', {
      code: 'ref_invalid',
      message: `${JSON.stringify(ref.slice(0, 100))} is not the name of a branch, a tag or a commit.`,
      hint: 'Give a branch such as main, a tag as refs/tags/v1, or the 40 digits of a commit.',
    });
  }
}

function hasControlOrSpace(text: string): boolean {
  return [...text].some((char) => char <= ' ' || char === '\u007f');
}

function invalid(message: string): BuildFailure {
  const hint = 'Give an address such as https://host/owner/name.git or git@host:owner/name.git.';
  return new BuildFailure('source', { code: 'url_invalid', message, hint });
}
