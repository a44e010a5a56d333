import { useStream } from '@langchain/langgraph-sdk/react';
import { LoadExternalComponent, type UIMessage } from '@langchain/langgraph-sdk/react-ui';
import { createRoot } from 'react-dom/client';

const given = new URLSearchParams(location.search);

/** Asks for the weather, and shows the components that the graph answers with. */
function Chat() {
  const stream = useStream({
    apiUrl: given.get('server') as string,
    assistantId: given.get('assistant') as string,
  });
  const shown = (stream.values['ui'] ?? []) as UIMessage[];
  return (
    <main>
      <button type="button" onClick={() => void stream.submit({ city: 'Paris' })}>
        Ask
      </button>
      {shown.map((message) => (
        <LoadExternalComponent key={message.id} stream={stream} message={message} fallback="Loading" />
      ))}
    </main>
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(<Chat />);
