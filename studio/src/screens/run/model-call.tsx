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
  const { messages, repeated, answer, tools, parameters } = contents;
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
            <li key={n}>
              <CallMessage message={message} isNew={marksNew && repeated !== null && n >= repeated} />
            </li>
          ))}
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
