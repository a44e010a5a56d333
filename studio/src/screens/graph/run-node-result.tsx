import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import { buttonClass } from '../../ui/button.tsx';
import { duration } from '../../ui/format.tsx';
import { Json } from '../../ui/json.tsx';
import { Pill, StatusPill } from '../../ui/pill.tsx';
import { AnswerForm } from '../interrupts/answer-form.tsx';
import { CancelRun } from '../run/cancel-run.tsx';
import { type NodeRunOutcome, toolAnswer } from './node-run.ts';

interface RunNodeResultProps {
  readonly run: Schemas['Run'];
  /** `undefined` while the run executes. */
  readonly outcome: NodeRunOutcome | undefined;
  readonly onAnswer: (interrupt_id: string, answer: unknown) => void;
}

/** The result of a node that was executed on its own. */
export function RunNodeResult({ run, outcome, onAnswer }: RunNodeResultProps) {
  const asked = outcome?.asked ?? [];
  return (
    <section aria-label="Result" className="flex min-w-0 flex-col gap-3 border-t border-line pt-4">
      <div role="status" className="flex flex-wrap items-center gap-x-3 gap-y-1">
        {asked.length > 0 ? (
          <Pill tone="wait">waiting for you</Pill>
        ) : (
          <StatusPill status={outcome?.status ?? 'running'} />
        )}
        {outcome?.duration_ms !== undefined && <span>{duration(outcome.duration_ms)}</span>}
        {!outcome && <CancelRun run={run} />}
        <Link to="/runs/$runId" params={{ runId: run.run_id }} className={`ml-auto ${buttonClass('quiet')}`}>
          Open run
        </Link>
      </div>
      {outcome && <Outcome outcome={outcome} />}
      {asked.map((each) => (
        <AnswerForm
          key={each.id}
          asked={each}
          error={null}
          hasKeys={false}
          isDisabled={false}
          onAnswer={(answer) => onAnswer(each.id, answer)}
        />
      ))}
    </section>
  );
}

function Outcome({ outcome: { writes, asked, error, status, duration_ms } }: { outcome: NodeRunOutcome }) {
  if (error !== undefined) return <p className="break-words whitespace-pre-wrap text-err">{error}</p>;
  if (writes.length > 0) return <Write write={writes.length === 1 ? writes[0] : writes} />;
  if (asked.length > 0 || status !== 'success') return null;
  return (
    <p className="text-ink-2">
      {duration_ms === undefined
        ? 'The run did not execute the node. Give a deferred node its own input.'
        : 'The node wrote nothing.'}
    </p>
  );
}

function Write({ write }: { write: unknown }) {
  const answer = toolAnswer(write);
  return (
    <>
      {answer && (
        <p
          className={`max-h-60 overflow-auto break-words whitespace-pre-wrap ${answer.failed ? 'text-err' : ''}`}
        >
          {answer.text}
        </p>
      )}
      {answer ? (
        <details>
          <summary className="py-1 text-ink-2">Output</summary>
          <Json value={write} label="Output" />
        </details>
      ) : (
        <Json value={write} label="Output" />
      )}
    </>
  );
}
