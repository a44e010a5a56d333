import { useStream } from '@langchain/langgraph-sdk/react';
import { LoadExternalComponent } from '@langchain/langgraph-sdk/react-ui';
import { createRoot } from 'react-dom/client';

const given = new URLSearchParams(location.search);

/** Shows the component that the server's UI of the assistant has under the name in the address. */
function Card() {
  const stream = useStream({
    apiUrl: given.get('server') as string,
    assistantId: given.get('assistant') as string,
  });
  const props = JSON.parse(given.get('props') as string) as Record<string, unknown>;
  const message = { type: 'ui' as const, id: '1', name: given.get('component') as string, props };
  return <LoadExternalComponent stream={stream} message={message} fallback={<p>Loading</p>} />;
}

createRoot(document.getElementById('root') as HTMLElement).render(<Card />);
