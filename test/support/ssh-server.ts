import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

const SSHD = '/usr/sbin/sshd';

/** Whether this machine has OpenSSH's server. */
export const hasSshServer = existsSync(SSHD);

/** OpenSSH's server, for the user of the tests and the keys that it is given. */
export class SshServer implements AsyncDisposable {
  readonly port: number;
  readonly #folder: string;
  #process: ChildProcess | undefined;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.port = port;
  }

  static async start(): Promise<SshServer> {
    const folder = await mkdtemp(join(tmpdir(), 'ssh-server-'));
    const server = new SshServer(folder, await freePort());
    await server.newHostKey();
    await writeFile(join(folder, 'authorized_keys'), '', { mode: 0o600 });
    await server.listen();
    return server;
  }

  /** A new identity, as after a change of the machine. */
  async newHostKey(): Promise<void> {
    const file = join(this.#folder, 'host_key');
    await rm(file, { force: true });
    await rm(`${file}.pub`, { force: true });
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  }

  async allow(public_key: string): Promise<void> {
    await appendFile(join(this.#folder, 'authorized_keys'), `${public_key}\n`);
  }

  async restart(): Promise<void> {
    await this.#stop();
    await this.listen();
  }

  url(path: string): string {
    return `ssh://${userInfo().username}@127.0.0.1:${this.port}${path}`;
  }

  async listen(): Promise<void> {
    const options = [
      `Port ${this.port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${join(this.#folder, 'host_key')}`,
      `AuthorizedKeysFile ${join(this.#folder, 'authorized_keys')}`,
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PermitRootLogin prohibit-password',
      'StrictModes no',
      'UsePAM no',
      'PidFile none',
    ];
    const config = join(this.#folder, 'sshd_config');
    await writeFile(config, `${options.join('\n')}\n`);
    await chmod(config, 0o600);
    // It drops its privileges into this folder.
    if (process.getuid?.() === 0) execFileSync('mkdir', ['-p', '/run/sshd']);
    this.#process = spawn(SSHD, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
    for await (const chunk of this.#process.stderr!) {
      if (String(chunk).includes('Server listening')) break;
    }
  }

  async #stop(): Promise<void> {
    const process = this.#process;
    if (!process || process.exitCode !== null) return;
    process.kill();
    await once(process, 'exit');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
