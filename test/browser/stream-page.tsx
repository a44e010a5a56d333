import { useStream } from '@langchain/react';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

/** `server`, `assistant` and `transport`; and `thread`, which the page adds, so that it finds it when it is loaded again. */
const given = new URLSearchParams(location.search);

function keep(thread_id: string): void {
  given.set('thread', thread_id);
  history.replaceState(null, '', `?${given}`);
}

/** Sends a run as it is typed, shows what the thread says, and answers what it asks with what is typed. */
function Chat() {
  const [draft, setDraft] = useState('');
  const { messages, values, interrupts, isLoading, error, submit, respond } = useStream({
    apiUrl: given.get('server') as string,
    assistantId: given.get('assistant') as string,
    transport: given.get('transport') as 'sse' | 'websocket',
    threadId: given.get('thread'),
    onThreadId: keep,
  });
  function send() {
    const { input, config } = JSON.parse(draft);
    void submit(input, { config });
  }
  return (
    <main>
      <input aria-label="draft" value={draft} onChange={({ target }) => setDraft(target.value)} />
      <button type="button" onClick={send}>
        Send
      </button>
      {interrupts.map(({ id, value }) => (
        // By id: without one, the hook refuses an answer to what it has read but not yet seen in the stream.
        <button
          key={id}
          type="button"
          onClick={() => void respond(JSON.parse(draft), { interruptId: id as string })}
        >
          Answer {JSON.stringify(value)}
        </button>
      ))}
      <pre id="messages">{messages.map(({ text }) => text).join('\n')}</pre>
      <pre id="values">{JSON.stringify(values)}</pre>
      <p role="status">{isLoading ? 'running' : 'idle'}</p>
      <p role="alert">{error ? String(error) : ''}</p>
    </main>
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(<Chat />);
