import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needs } from './needs.ts';

/** A git service over https: `git http-backend`, behind a certificate of its own authority and basic authentication. */
export class GitServer implements AsyncDisposable {
  /** PEM file of the authority. */
  readonly ca_file: string;
  /** Headers `authorization` of all requests. */
  readonly authorizations: string[] = [];
  /** Answers a request in place of the backend. True if it has. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  readonly #folder: string;
  readonly #server: Server;

  private constructor(folder: string, repositories: string, private_: ReadonlyMap<string, string>) {
    this.#folder = folder;
    this.ca_file = join(folder, 'cert.pem');
    const tls = { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(this.ca_file) };
    this.#server = createServer(tls, (request, response) => {
      const { authorization } = request.headers;
      if (authorization) this.authorizations.push(authorization);
      if (this.intercept(request, response)) return;
      const wanted = private_.get((request.url ?? '').split('/')[1] ?? '');
      if (wanted === undefined || authorization === `Basic ${btoa(wanted)}`)
        return backend(repositories, request, response);
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
    });
  }

  /** Serves the repositories in a folder; `private_` has `user:token` by their names. */
  static async start(
    repositories: string,
    private_: Readonly<Record<string, string>> = {},
  ): Promise<GitServer> {
    needs('git');
    needs('openssl');
    const folder = await mkdtemp(join(tmpdir(), 'git-server-'));
    const subject = [
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost,DNS:git.example,IP:127.0.0.1',
    ];
    const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        ...files,
        ...subject,
      ],
      {
        stdio: 'ignore',
      },
    );
    const server = new GitServer(folder, repositories, new Map(Object.entries(private_)));
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(repository: string, host = 'localhost'): string {
    return `https://${host}:${this.port}/${repository}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** CGI: the request as variables and stdin; the answer as headers, an empty line, and the body. */
function backend(repositories: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '', 'https://localhost');
  const child = spawn('git', ['-c', 'safe.directory=*', 'http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: repositories,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: request.headers['git-protocol'] as string | undefined,
      PATH_INFO: pathname,
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => {});
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf('\r\n\r\n');
    const headers = output
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(': ') as [string, string]);
    const status = headers.find(([name]) => name === 'Status')?.[1];
    response.writeHead(
      Number.parseInt(status ?? '200', 10),
      Object.fromEntries(headers.filter(([name]) => name !== 'Status')),
    );
    response.end(output.subarray(end + 4));
  });
}
