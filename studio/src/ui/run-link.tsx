import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { assistantName, assistantsQuery } from '../api/assistants.ts';
import type { Schemas } from '../api/client.ts';
import { shortId } from './format.tsx';

interface RunLinkProps {
  readonly run: Partial<Pick<Schemas['Run'], 'run_id' | 'assistant_id'>>;
  /** See `OPENS`. */
  readonly 'data-opens'?: string;
}

/** A link to a run, by the name of its assistant. */
export function RunLink({ run, ...props }: RunLinkProps) {
  const { run_id = '' } = run;
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const assistant = assistants.find(({ assistant_id }) => assistant_id === run.assistant_id);
  return (
    <Link
      {...props}
      to="/runs/$runId"
      params={{ runId: run_id }}
      className="font-medium whitespace-nowrap hover:text-accent"
    >
      <bdi>{assistant ? assistantName(assistant) : 'Run'}</bdi>{' '}
      <span className="font-mono text-xs font-normal text-ink-3">{shortId(run_id)}</span>
    </Link>
  );
}
