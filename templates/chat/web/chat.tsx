import { useStream } from '@langchain/react';
import { useState } from 'react';
import { Approval, type Review } from './approval.tsx';

/** A server that other machines reach asks for a key; it stays in this tab. */
const KEY = 'agent-server-key';

export function Chat() {
  // In the address, so that a reload returns to the conversation, even while it waits for a decision.
  const [threadId, setThreadId] = useState(() => location.hash.slice(1) || null);
  const stream = useStream({
    apiUrl: location.origin,
    assistantId: 'agent',
    apiKey: sessionStorage.getItem(KEY) ?? undefined,
    threadId,
    onThreadId: (id) => {
      history.replaceState(null, '', `#${id}`);
      setThreadId(id);
    },
  });
  const { interrupt } = stream;
  const review = interrupt?.value as Review | undefined;

  function decide(answer: object) {
    // By its id: right after a reload, the stream has not replayed the question yet.
    void stream.respond(answer, { interruptId: interrupt?.id });
  }

  function send(form: FormData) {
    const content = String(form.get('text')).trim();
    if (content !== '') void stream.submit({ messages: [{ type: 'human', content }] });
  }

  return (
    <main>
      <ol>
        {stream.messages
          .filter(({ text }) => text !== '')
          .map(({ id, type, text }) => (
            <li key={id} className={type}>
              {text}
            </li>
          ))}
      </ol>
      {review && <Approval review={review} decide={decide} />}
      {stream.error ? <Failure error={stream.error} /> : null}
      <form action={send}>
        <input
          name="text"
          aria-label="Message"
          placeholder="Tell ada@example.com that lunch is at one"
          autoComplete="off"
        />
        <button type="submit" disabled={stream.isLoading || review !== undefined}>
          Send
        </button>
      </form>
    </main>
  );
}

function Failure({ error }: { error: unknown }) {
  function useKey(form: FormData) {
    sessionStorage.setItem(KEY, String(form.get('key')));
    location.reload();
  }
  return (
    <form action={useKey} role="alert">
      <p>{String(error)}</p>
      <input
        name="key"
        type="password"
        aria-label="API key"
        placeholder="API key, if the server requires one"
      />
      <button type="submit">Try again</button>
    </form>
  );
}
