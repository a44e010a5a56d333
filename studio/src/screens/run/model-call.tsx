import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { count, plural } from '../../ui/format.tsx';
import { Json } from '../../ui/json.tsx';
import { CallMessage } from './call-message.tsx';
import { OpenInChat } from './open-in-chat.tsx';
import { Part } from './part.tsx';
import type { DetailedStep, StepContents } from './run-queries.ts';

interface ModelCallProps {
  readonly details: DetailedStep;
  readonly contents: StepContents;
}

/** A call of a model: the conversation as the model saw it, its answer, and with which tools and parameters. */
export function ModelCall({ details, contents }: ModelCallProps) {
  const { messages, repeated, previous, answer, tools, parameters } = contents;
  const breaksAt = breakOf(contents);
  const [marksNew, setMarksNew] = useState(true);
  const offered = Array.isArray(tools) ? tools : [];
  return (
    <>
      <Part title="Conversation">
        <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
          {repeated !== null && (
            <label className="flex items-center gap-2 text-ink-2">
              <input
                type="checkbox"
                checked={marksNew}
                onChange={({ target }) => setMarksNew(target.checked)}
              />
              Mark what is new since the previous call
            </label>
          )}
          <OpenInChat details={details} />
        </div>
        <ol className="flex flex-col gap-2">
          {messages?.map((message, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages of a call never move
            <li key={n} className="flex flex-col gap-2">
              {previous && n === breaksAt && <PrefixBreak previous={previous} at={n} />}
              <CallMessage message={message} isNew={marksNew && repeated !== null && n >= repeated} />
            </li>
          ))}
          {previous && breaksAt !== undefined && breaksAt === messages?.length && (
            <li>
              <PrefixBreak previous={previous} at={breaksAt} />
            </li>
          )}
        </ol>
      </Part>
      {answer && answer.length > 0 && (
        <Part title="Answer">
          {answer.map((message, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <CallMessage key={n} message={message} isNew={false} />
          ))}
        </Part>
      )}
      {offered.length > 0 && (
        <details>
          <summary className="py-1">
            {count(offered.length)} {plural(offered.length, 'tool')} offered
          </summary>
          <Json value={tools} label="Tools offered" />
        </details>
      )}
      {parameters !== null && (
        <details>
          <summary className="py-1">Parameters</summary>
          <Json value={parameters} label="Parameters" />
        </details>
      )}
    </>
  );
}

/**
 * The message before which the call stops sharing its prefix with the previous one; `undefined` if it only adds to it. Tools
 * come before all messages.
 */
function breakOf({ repeated, previous }: StepContents): number | undefined {
  if (!previous) return undefined;
  if (!previous.has_same_tools) return 0;
  return repeated !== null && repeated < previous.messages ? repeated : undefined;
}

interface PrefixBreakProps {
  readonly previous: NonNullable<StepContents['previous']>;
  readonly at: number;
}

/** Where a provider's prompt cache stops to help, and why. */
function PrefixBreak({ previous: { run_id, step_id, messages, has_same_tools }, at }: PrefixBreakProps) {
  const left = messages - at;
  return (
    <p
      role="note"
      className="flex flex-wrap items-baseline gap-x-2 border-t-2 border-dashed border-wait pt-1 text-xs text-ink-2"
    >
      <b className="font-medium text-wait">Prefix breaks here</b>
      {has_same_tools
        ? `${count(left)} ${plural(left, 'message')} of the previous call ${left === 1 ? 'is' : 'are'} different or gone: what follows is not in the prompt cache.`
        : 'The previous call was offered other tools, which come before all messages: nothing of it is in the prompt cache.'}
      <Link
        to="/runs/$runId"
        params={{ runId: run_id }}
        search={{ step: step_id }}
        className="text-accent hover:underline"
      >
        Previous call
      </Link>
    </p>
  );
}
