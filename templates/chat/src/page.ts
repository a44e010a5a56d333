import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const BUILT = join(import.meta.dirname, '../web/dist');
const TYPES: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

/** The files that `npm run build` has made, by the path of their request. */
const files = new Map<string, string>();
if (existsSync(BUILT))
  for (const entry of await readdir(BUILT, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const file = join(entry.parentPath, entry.name);
      files.set(file.slice(BUILT.length).replaceAll('\\', '/').replace('/index.html', '/'), file);
    }

/** Serves the built chat page at /. Everything else, answered with 404 here, goes to the server. */
export async function page(request: Request): Promise<Response> {
  const file = files.get(new URL(request.url).pathname);
  if (file === undefined || request.method !== 'GET') return new Response('', { status: 404 });
  const type = TYPES[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
  return new Response(await readFile(file), { headers: { 'Content-Type': `${type}; charset=utf-8` } });
}
