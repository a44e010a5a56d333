import { useStream as useRunStream } from '@langchain/langgraph-sdk/react';
import { useStream as useEventStream } from '@langchain/react';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

/** `server`, `assistant`, and `kind`: `events` for event streaming, else the streams of runs. */
const given = new URLSearchParams(location.search);
const at = { apiUrl: given.get('server') as string, assistantId: given.get('assistant') as string };

/** The standard request for a review: https://docs.langchain.com/oss/javascript/langchain/human-in-the-loop */
interface Review {
  action_requests: { name: string; args: Record<string, unknown>; description: string }[];
  review_configs: { action_name: string; allowed_decisions: string[] }[];
}

interface Conversation {
  texts: string[];
  review: Review | undefined;
  isLoading: boolean;
  error: unknown;
  say(content: string): void;
  decide(answer: object): void;
}

function OverRuns() {
  const stream = useRunStream<{ messages: { id: string; type: 'human'; content: string }[] }>(at);
  return (
    <Chat
      texts={stream.messages.map(({ content }) => String(content))}
      review={stream.interrupt?.value as Review | undefined}
      isLoading={stream.isLoading}
      error={stream.error}
      say={(content) =>
        void stream.submit({ messages: [{ id: crypto.randomUUID(), type: 'human', content }] })
      }
      decide={(resume) => void stream.submit(undefined, { command: { resume } })}
    />
  );
}

function OverEvents() {
  const stream = useEventStream(at);
  return (
    <Chat
      texts={stream.messages.map(({ text }) => text)}
      review={stream.interrupts[0]?.value as Review | undefined}
      isLoading={stream.isLoading}
      error={stream.error}
      say={(content) => void stream.submit({ messages: [{ type: 'human', content }] })}
      decide={(answer) => void stream.respond(answer)}
    />
  );
}

/** What front ends draw for a review: a button for each decision that is allowed. */
function Chat({ texts, review, isLoading, error, say, decide }: Conversation) {
  const [draft, setDraft] = useState('');
  const [action] = review?.action_requests ?? [];
  const decisions: Record<string, () => object> = {
    approve: () => ({ type: 'approve' }),
    edit: () => ({
      type: 'edit',
      edited_action: { name: action?.name, args: { ...action?.args, ...JSON.parse(draft) } },
    }),
    reject: () => ({ type: 'reject', message: draft }),
  };
  return (
    <main>
      <input aria-label="draft" value={draft} onChange={({ target }) => setDraft(target.value)} />
      <button type="button" onClick={() => say(draft)}>
        Send
      </button>
      {(action ? review?.review_configs[0]?.allowed_decisions : [])?.map((type) => (
        <button key={type} type="button" onClick={() => decide({ decisions: [decisions[type]?.()] })}>
          {type}
        </button>
      ))}
      <p>{action?.description}</p>
      <ol id="messages">
        {texts.map((text, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages only grow.
          <li key={index}>{text}</li>
        ))}
      </ol>
      <p role="status">{isLoading ? 'running' : 'idle'}</p>
      <p role="alert">{error ? String(error) : ''}</p>
    </main>
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(
  given.get('kind') === 'events' ? <OverEvents /> : <OverRuns />,
);
