import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Select } from '../../ui/fields.tsx';
import { EDITORS, setEditor, useEditor } from './editor.ts';
import { nodesQuery } from './graph-queries.ts';

/** Location of a node's function, in the form that editors take: `src/agent.ts:41`. Looked up on demand. */
export function CodeLocation({ assistantId, node }: { assistantId: string; node: string }) {
  const [isAsked, setAsked] = useState(false);
  const { data, error } = useQuery({ ...nodesQuery(assistantId, true), enabled: isAsked });
  if (!isAsked && !data) {
    return (
      <Button look="quiet" className="-my-1 -ml-2.5" onClick={() => setAsked(true)}>
        Find
      </Button>
    );
  }
  if (error) return <span className="text-err">{error.message}</span>;
  if (!data) return <span className="text-ink-3">…</span>;
  const source = data.find(({ id }) => id === node)?.source;
  if (!source) return <span className="text-ink-3">not in a project file</span>;
  const { path, file, line } = source;
  return (
    <span className="flex min-w-0 flex-col gap-1">
      <span className="flex items-start gap-1">
        <span className="min-w-0 font-mono text-xs/5 break-all">{`${path}:${line}`}</span>
        <CopyButton text={`${file ?? path}:${line}`} what="the code location" className="-my-1" />
      </span>
      {file && <OpenInEditor file={file} line={line} />}
    </span>
  );
}

/** The server gives the full path only to callers on its machine. */
function OpenInEditor({ file, line }: { file: string; line: number }) {
  const chosen = useEditor();
  const editor = Object.hasOwn(EDITORS, chosen) ? EDITORS[chosen] : undefined;
  return (
    <span className="flex flex-wrap items-center gap-2">
      <Select
        aria-label="Editor"
        value={editor ? chosen : ''}
        onChange={({ target }) => setEditor(target.value)}
        options={[['', 'No editor'], ...Object.entries(EDITORS).map(([id, { name }]) => [id, name] as const)]}
      />
      {editor && (
        <a href={editor.href(file, line)} className="text-accent">
          Open in {editor.name}
        </a>
      )}
    </span>
  );
}
