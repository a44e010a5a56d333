import { useSyncExternalStore } from 'react';

interface Editor {
  readonly name: string;
  /** URL that opens a file at a line. */
  readonly href: (file: string, line: number) => string;
}

/** Folder names may contain characters that end a path, such as `#`. */
const encoded = (file: string) => file.split('/').map(encodeURIComponent).join('/');
const byPath = (scheme: string) => (file: string, line: number) => `${scheme}://file${encoded(file)}:${line}`;
const byQuery = (scheme: string) => (file: string, line: number) =>
  `${scheme}://open?file=${encodeURIComponent(file)}&line=${line}`;

/** Keyed by the stored value. */
export const EDITORS: Readonly<Record<string, Editor>> = {
  vscode: { name: 'VS Code', href: byPath('vscode') },
  cursor: { name: 'Cursor', href: byPath('cursor') },
  windsurf: { name: 'Windsurf', href: byPath('windsurf') },
  zed: { name: 'Zed', href: byPath('zed') },
  webstorm: { name: 'WebStorm', href: byQuery('webstorm') },
  idea: { name: 'IntelliJ IDEA', href: byQuery('idea') },
};

const KEY = 'studio.editor';
const listeners = new Set<() => void>();

/** Storage may be disabled. The choice then lasts as long as the page. */
let chosen = (() => {
  try {
    return localStorage.getItem(KEY) ?? '';
  } catch {
    return '';
  }
})();

export function setEditor(editor: string): void {
  chosen = editor;
  try {
    localStorage.setItem(KEY, editor);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  for (const each of listeners) each();
}

/** A key of `EDITORS`, or empty for none. */
export function useEditor(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => chosen,
  );
}
