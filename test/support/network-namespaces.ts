import { execFileSync } from 'node:child_process';

/** Whether this machine can give a build a network of its own. */
export function hasNetworkNamespaces(): boolean {
  try {
    execFileSync('bwrap', ['--unshare-user', '--unshare-net', '--ro-bind', '/', '/', 'true'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}
