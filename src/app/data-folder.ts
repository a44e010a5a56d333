import { dirname, resolve } from 'node:path';
import type { Config } from '../config/schema.ts';

/** Where the server keeps what is not in its database: beside the file of SQLite, else where that would be. */
export function dataFolder({ storage: { url, folder = '' }, root }: Config): string {
  const file = /^sqlite:(?!:memory:)(.+)$/.exec(url)?.[1];
  return file === undefined ? resolve(root, folder, '.agent-server') : dirname(file);
}
