import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { assistantAt, assistantsQuery, schemasQuery } from '../../api/assistants.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { NewConversation } from './new-conversation.tsx';
import { ThreadChat } from './thread-chat.tsx';

/** A conversation with an assistant: a new one, or a thread. */
export function Chat() {
  const { assistantId, threadId } = useParams({ strict: false }) as {
    assistantId: string;
    threadId?: string;
  };
  const assistants = useQuery(assistantsQuery);
  const schemas = useQuery(schemasQuery(assistantId));
  const assistant = assistantAt(assistants.data ?? [], assistantId);
  const error = assistants.error ?? schemas.error;
  if (error) {
    return (
      <Page title="Chat">
        <Failure error={error} retry={() => void Promise.all([assistants.refetch(), schemas.refetch()])} />
      </Page>
    );
  }
  if (!assistants.data || !schemas.data) return <Loading what="the assistant" />;
  if (!assistant) {
    return (
      <Page title="Chat">
        <Empty title="There is no such assistant">
          <Link to="/chat" className="text-accent">
            Choose another one
          </Link>
        </Empty>
      </Page>
    );
  }
  const schema = schemas.data.input_schema;
  if (threadId === undefined) return <NewConversation key={assistantId} {...{ assistant, schema }} />;
  // Nothing of another thread stays, least of all what it asks.
  return <ThreadChat key={threadId} thread_id={threadId} {...{ assistant, schema }} />;
}
