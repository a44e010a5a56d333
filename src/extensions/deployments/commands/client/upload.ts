import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { StartFailure } from '../../../../node.ts';

/** Excludes what a build recreates, and what must not leave this machine. */
const EXCLUDED = ['node_modules', '.git', '.agent-server', '.langgraph_api', '.env', '.env.*', '.DS_Store'];

/** Uploads a folder as a `.tar.gz`. Throws a `StartFailure`. */
export async function uploadFolder(folder: string, upload_url: string): Promise<void> {
  const temporary = await mkdtemp(join(tmpdir(), 'agent-server-deploy-'));
  const file = join(temporary, 'source.tar.gz');
  try {
    await pack(folder, file);
    const { size } = await stat(file);
    const response = await fetch(upload_url, {
      method: 'PUT',
      redirect: 'error',
      headers: { 'content-type': 'application/gzip', 'content-length': String(size) },
      body: Readable.toWeb(createReadStream(file)) as ReadableStream,
      duplex: 'half',
    } as RequestInit);
    if (!response.ok)
      throw new StartFailure(`the upload was rejected with ${response.status}: ${await response.text()}`);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function pack(folder: string, file: string): Promise<void> {
  const excluded = EXCLUDED.map((name) => `--exclude=${name}`);
  const tar = spawn('tar', ['-czf', file, ...excluded, '-C', folder, '.'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const errors: Buffer[] = [];
  tar.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const [code] = await once(tar, 'close').catch((error: unknown) => {
    throw new StartFailure('cannot start tar, which packs the sources: install it', { cause: error });
  });
  if (code === 0) return;
  const [first = ''] = Buffer.concat(errors).toString().split('\n');
  throw new StartFailure(`${folder} cannot be packed: ${first}`);
}
