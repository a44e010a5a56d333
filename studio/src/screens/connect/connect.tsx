import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { assistantName, assistantsQuery, type ListedAssistant, schemasQuery } from '../../api/assistants.ts';
import { API_URL } from '../../api/base.ts';
import { useSession } from '../../api/session.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Field, Select } from '../../ui/fields.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { exampleInput } from './example-input.ts';
import { callName, type Snippet, snippetsOf, type Way, waysOf } from './snippets.ts';

/** Shows how to call an assistant from other programs. */
export function Connect() {
  const { data, error, refetch } = useQuery(assistantsQuery);
  const { assistant: id } = useSearch({ from: '/connect' });
  if (error) {
    return (
      <Page title="Connect">
        <Failure error={error} retry={() => void refetch()} />
      </Page>
    );
  }
  if (!data) return <Loading what="assistants" />;
  const assistant = data.find(({ assistant_id }) => assistant_id === id) ?? data[0];
  return (
    <Page title="Connect">
      {assistant ? (
        <>
          <Choice assistants={data} chosen={assistant} />
          <Snippets assistant={assistant} />
        </>
      ) : (
        <Empty title="No assistants">Add a graph to the configuration.</Empty>
      )}
    </Page>
  );
}

function Choice({ assistants, chosen }: { assistants: readonly ListedAssistant[]; chosen: ListedAssistant }) {
  const navigate = useNavigate({ from: '/connect' });
  return (
    <div className="flex flex-wrap gap-x-6 gap-y-3">
      <Field label="Assistant">
        <Select
          value={chosen.assistant_id}
          onChange={({ target }) =>
            void navigate({ search: (before) => ({ ...before, assistant: target.value }), replace: true })
          }
          options={assistants.map((each) => [each.assistant_id, assistantName(each)] as const)}
        />
      </Field>
      <div className="flex flex-col gap-1">
        <span className="text-xs text-ink-2">Server</span>
        <span className="font-mono text-xs/7 break-all">{API_URL}</span>
      </div>
    </div>
  );
}

function Snippets({ assistant }: { assistant: ListedAssistant }) {
  const { tab } = useSearch({ from: '/connect' });
  const { authentication, extensions } = useSession();
  const schemas = useQuery(schemasQuery(assistant.assistant_id));
  const ways = waysOf(extensions);
  const way = ways.find(({ name }) => name === tab)?.name ?? ('javascript' satisfies Way);
  // A graph that cannot be loaded has no schemas; the snippets still say how to call it.
  if (schemas.isPending) return <Loading what="the input schema" />;
  const target = {
    url: API_URL,
    assistant: callName(assistant),
    input: exampleInput(schemas.data?.input_schema),
    key: authentication,
  };
  return (
    <>
      <Tabs tabs={ways} open={way} />
      <div className="flex max-w-4xl flex-col gap-4">
        {snippetsOf(way, target).map((snippet) => (
          <SnippetCard key={`${way} ${snippet.title}`} snippet={snippet} />
        ))}
        {authentication && (
          <p className="text-xs text-ink-3">Replace YOUR_KEY with an API key. Create one under Keys.</p>
        )}
      </div>
    </>
  );
}

function SnippetCard({ snippet: { title, note, code } }: { snippet: Snippet }) {
  return (
    <Card className="min-w-0 overflow-hidden">
      <header className="flex items-center gap-3 border-b border-line py-2 pr-2 pl-4">
        <div className="min-w-0">
          <h2 className="font-medium">{title}</h2>
          {note !== undefined && <p className="text-xs text-ink-2">{note}</p>}
        </div>
        <CopyButton text={code} what={title} look="plain" className="ml-auto" />
      </header>
      <pre tabIndex={0} className="overflow-auto p-4 font-mono text-xs/[18px]">
        {code}
      </pre>
    </Card>
  );
}
