import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { assistantAt, assistantsQuery, schemasQuery } from '../../api/assistants.ts';
import { Page } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { NewConversation } from './new-conversation.tsx';
import { ThreadChat } from './thread-chat.tsx';

/** A conversation with an assistant, on a new or an existing thread. */
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
        <Empty title="Assistant not found">
          <Link to="/chat" className="text-accent">
            Choose another assistant
          </Link>
        </Empty>
      </Page>
    );
  }
  const schema = schemas.data.input_schema;
  if (threadId === undefined) return <NewConversation key={assistantId} {...{ assistant, schema }} />;
  // The key drops the state of another thread, above all its questions.
  return <ThreadChat key={threadId} thread_id={threadId} {...{ assistant, schema }} />;
}
