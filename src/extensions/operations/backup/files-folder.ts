import { existsSync, renameSync, rmSync } from 'node:fs';
import type { NamedFiles } from '../../extension.ts';

/** Folder next to a backup that has the files of an extension. */
export function filesFolderOf(backup: string, extension: string): string {
  return `${backup}.${extension}`;
}

/** Copies the files that the unfinished backup `partial` names. Returns the names of what each extension has. */
export async function copyFiles(
  partial: string,
  files: readonly NamedFiles[],
): Promise<Record<string, readonly string[]>> {
  const copied: Record<string, readonly string[]> = {};
  for (const { name, copy } of files) copied[name] = await copy(partial, filesFolderOf(partial, name));
  return copied;
}

/** Gives the folders of an unfinished backup the names of those of the finished one, in place of earlier ones. */
export function renameFolders(partial: string, backup: string, files: readonly NamedFiles[]): void {
  for (const { name } of files) {
    const [from, to] = [filesFolderOf(partial, name), filesFolderOf(backup, name)];
    rmSync(to, { recursive: true, force: true });
    if (existsSync(from)) renameSync(from, to);
  }
}

export function removeFolders(backup: string, files: readonly NamedFiles[]): void {
  for (const { name } of files) rmSync(filesFolderOf(backup, name), { recursive: true, force: true });
}
