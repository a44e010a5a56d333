import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { assistantName, assistantsQuery } from '../api/assistants.ts';
import type { Schemas } from '../api/client.ts';
import { shortId } from './format.tsx';

interface RunLinkProps {
  readonly run: Partial<Pick<Schemas['Run'], 'run_id' | 'assistant_id'>>;
  readonly className?: string;
  /** See `OPENS`. */
  readonly 'data-opens'?: string;
}

/** A link to a run, by the name of its assistant. */
export function RunLink({ run, className = '', ...props }: RunLinkProps) {
  return (
    <Link
      {...props}
      to="/runs/$runId"
      params={{ runId: run.run_id ?? '' }}
      className={`font-medium whitespace-nowrap hover:text-accent ${className}`}
    >
      <RunTitle run={run} />
    </Link>
  );
}

/** The name of the run's assistant, and the short id of the run. */
export function RunTitle({ run: { run_id = '', assistant_id } }: Pick<RunLinkProps, 'run'>) {
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const assistant = assistants.find((each) => each.assistant_id === assistant_id);
  return (
    <>
      <bdi>{assistant ? assistantName(assistant) : 'Run'}</bdi>{' '}
      <span className="font-mono text-xs font-normal text-ink-3">{shortId(run_id)}</span>
    </>
  );
}
