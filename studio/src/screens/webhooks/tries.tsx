import type { Schemas } from '../../api/client.ts';
import { duration } from '../../ui/format.tsx';
import { Pill } from '../../ui/pill.tsx';

/** The tries of a delivery with their responses, last first. */
export function Tries({ attempts }: { attempts: readonly Schemas['DeliveryAttempt'][] }) {
  return (
    <ol aria-label="Tries" className="flex flex-col divide-y divide-line">
      {attempts.toReversed().map((attempt) => (
        <li
          key={`${attempt.attempt} ${attempt.started_at}`}
          className="flex flex-col gap-2 py-3 first:pt-0 last:pb-0"
        >
          <Try attempt={attempt} />
        </li>
      ))}
    </ol>
  );
}

function Try({
  attempt: { attempt, started_at, duration_ms, status_code, error, answer, answer_headers },
}: {
  attempt: Schemas['DeliveryAttempt'];
}) {
  const isFine = status_code !== null && status_code >= 200 && status_code < 300;
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">Try {attempt}</span>
        <Pill tone={isFine ? 'ok' : 'err'}>{status_code ?? 'no answer'}</Pill>
        <span className="text-ink-3">{duration(duration_ms)}</span>
        <time dateTime={started_at} className="ml-auto text-ink-3">
          {new Date(started_at).toLocaleString()}
        </time>
      </div>
      {error !== null && <p className="break-words text-err">{error}</p>}
      {answer !== null && (
        <figure aria-label={`Answer to try ${attempt}`}>
          <pre
            tabIndex={0}
            className="max-h-60 overflow-auto rounded-lg bg-sunk p-3 font-mono text-xs/[18px] break-words whitespace-pre-wrap"
          >
            {answer}
          </pre>
        </figure>
      )}
      {answer_headers !== null && <Headers headers={answer_headers} />}
    </>
  );
}

function Headers({ headers }: { headers: Readonly<Record<string, string>> }) {
  const items = Object.entries(headers);
  if (items.length === 0) return null;
  return (
    <details>
      <summary className="py-0.5 text-ink-2">Response headers</summary>
      <dl className="flex flex-col gap-1 py-1 font-mono text-xs break-words">
        {items.map(([name, value]) => (
          <div key={name}>
            <dt className="inline text-ink-3">{name}: </dt>
            <dd className="inline">{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
