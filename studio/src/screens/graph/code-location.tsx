import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { nodesQuery } from './graph-queries.ts';

/** Where the function of a node is, as editors take it: `src/agent.ts:41`. Looked for when somebody asks. */
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
  if (!source) return <span className="text-ink-3">not in a file of the project</span>;
  const text = `${source.path}:${source.line}`;
  return (
    <span className="flex items-start gap-1">
      <span className="min-w-0 font-mono text-xs/5 break-all">{text}</span>
      <CopyButton text={text} what="the place of the code" className="-my-1" />
    </span>
  );
}
