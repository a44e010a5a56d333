import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { assistantName, assistantsQuery, type ListedAssistant, mainAssistant } from '../../api/assistants.ts';
import { Card, Page } from '../../ui/page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';

/** All graphs of the server, with their assistants. */
export function Graphs() {
  return (
    <Page title="Graphs">
      <List />
    </Page>
  );
}

function List() {
  const { data, error, refetch } = useQuery(assistantsQuery);
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="graphs" />;
  if (data.length === 0) {
    return <Empty title="No graphs">Add them to the server configuration under `graphs`.</Empty>;
  }
  const graphs = [...Map.groupBy(data, ({ graph_id }) => graph_id)].sort(([a], [b]) => a.localeCompare(b));
  return (
    <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
      {graphs.map(([graph, assistants]) => (
        <li key={graph}>
          <GraphCard graph={graph} assistants={assistants} />
        </li>
      ))}
    </ul>
  );
}

function GraphCard({ graph, assistants }: { graph: string; assistants: readonly ListedAssistant[] }) {
  const main = mainAssistant(assistants);
  const others = assistants.filter((each) => each !== main);
  return (
    <Card className="flex h-full flex-col gap-1 p-4 wrap-anywhere">
      <h2 className="text-base font-semibold">
        <Link
          to="/graphs/$assistantId"
          params={{ assistantId: main?.assistant_id ?? graph }}
          className="hover:text-accent"
        >
          {graph}
        </Link>
      </h2>
      <p className="text-ink-2">{main?.description || 'No description.'}</p>
      {others.length > 0 && (
        <ul aria-label={`Assistants of ${graph}`} className="flex flex-wrap gap-x-3 pt-1">
          {others.map((each) => (
            <li key={each.assistant_id}>
              <Link
                to="/graphs/$assistantId"
                params={{ assistantId: each.assistant_id }}
                className="text-accent hover:underline"
              >
                {assistantName(each)}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
