import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { type Assistant as AssistantData, assistantName } from '../../api/assistants.ts';
import { useSession } from '../../api/session.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { shortId } from '../../ui/format.tsx';
import { MoreActions } from '../../ui/more-actions.tsx';
import { Page } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { useCreateAssistant } from '../assistants/create.tsx';
import { assistantQuery, useAssistantChanges } from './assistant-queries.ts';
import { Settings } from './settings.tsx';
import { Versions } from './versions.tsx';

// Loaded on demand: only the Try tab needs the chat.
const TryVersions = lazy(async () => ({ default: (await import('./try-versions.tsx')).TryVersions }));

const TABS = [
  { name: 'settings', label: 'Settings' },
  { name: 'versions', label: 'Versions' },
  { name: 'try', label: 'Try' },
] as const;

/** An assistant: its settings and their versions. */
export function Assistant() {
  const { assistantId } = useParams({ from: '/assistants/$assistantId' });
  const { data, error, refetch } = useQuery(assistantQuery(assistantId));
  if (error) {
    return (
      <Page title={`Assistant ${shortId(assistantId)}`}>
        <Failure error={error} retry={() => void refetch()} />
      </Page>
    );
  }
  if (!data) return <Loading what="the assistant" />;
  return <View key={data.assistant_id} assistant={data} />;
}

function View({ assistant }: { assistant: AssistantData }) {
  const search = useSearch({ from: '/assistants/$assistantId' });
  const tab = TABS.find(({ name }) => name === search.tab)?.name ?? 'settings';
  const { assistant_id, version } = assistant;
  return (
    <Page
      title={assistantName(assistant)}
      beside={
        <>
          <span className="rounded-md bg-idle-bg px-2 text-ink-2">version {version}</span>
          <span className="font-mono text-xs text-ink-3">{assistant_id}</span>
        </>
      }
      actions={<Actions assistant={assistant} />}
    >
      <p className="text-ink-2">
        Runs the graph{' '}
        <Link
          to="/graphs/$assistantId"
          params={{ assistantId: assistant_id }}
          className="font-medium text-accent hover:underline"
        >
          {assistant.graph_id}
        </Link>
        .
      </p>
      <Tabs tabs={TABS} open={tab} />
      {/* Stays mounted, so that a draft survives a switch of tabs. */}
      <div hidden={tab === 'versions' || tab === 'try'}>
        <Settings assistant={assistant} />
      </div>
      {tab === 'versions' && <Versions assistant={assistant} />}
      {tab === 'try' && (
        <Suspense fallback={<Loading what="the view" />}>
          <TryVersions assistant={assistant} />
        </Suspense>
      )}
    </Page>
  );
}

function Actions({ assistant }: { assistant: AssistantData }) {
  const { graph_id, config, context, metadata, description } = assistant;
  const [isDeleting, setDeleting] = useState(false);
  const { can } = useSession();
  const duplicate = useCreateAssistant();
  function copy() {
    // The server copies the context into the configurable values.
    const { configurable: _, ...rest } = config;
    const { created_by: __, ...own } = metadata;
    const name = `${assistantName(assistant)} copy`;
    duplicate.create({ graph_id, name, description, config: rest, context, metadata: own });
  }
  return (
    <>
      {duplicate.error && (
        <span role="alert" className="text-err">
          {duplicate.error.message}
        </span>
      )}
      <MoreActions>
        <Link to="/runs" search={{ assistant: assistant.assistant_id }} className={buttonClass('quiet')}>
          Runs
        </Link>
        {can('admin') && (
          <>
            <Button disabled={duplicate.isPending} onClick={copy}>
              Duplicate
            </Button>
            <Button look="danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          </>
        )}
      </MoreActions>
      <Link
        to="/chat/$assistantId"
        params={{ assistantId: assistant.assistant_id }}
        className={buttonClass()}
      >
        Open chat
      </Link>
      <Dialog title="Delete this assistant?" open={isDeleting} onClose={() => setDeleting(false)}>
        <Delete assistant={assistant} close={() => setDeleting(false)} />
      </Dialog>
    </>
  );
}

function Delete({ assistant, close }: { assistant: AssistantData; close: () => void }) {
  const { remove } = useAssistantChanges(assistant.assistant_id);
  const navigate = useNavigate();
  return (
    <>
      <p>
        “<bdi>{assistantName(assistant)}</bdi>” and all its versions will be deleted. Its threads are kept.
        This cannot be undone.
      </p>
      {remove.error && (
        <p role="alert" className="text-err">
          {remove.error.message}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={close}>
          Cancel
        </Button>
        <Button
          look="danger"
          disabled={remove.isPending}
          onClick={() => remove.mutate(undefined, { onSuccess: () => void navigate({ to: '/assistants' }) })}
        >
          Delete assistant
        </Button>
      </div>
    </>
  );
}
