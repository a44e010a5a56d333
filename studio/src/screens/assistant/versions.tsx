import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Assistant } from '../../api/assistants.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { diffOf } from '../../ui/diff.ts';
import { DiffText } from '../../ui/diff-text.tsx';
import { Select } from '../../ui/fields.tsx';
import { Ago } from '../../ui/format.tsx';
import { Card } from '../../ui/page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { useAssistantChanges, versionsQuery } from './assistant-queries.ts';
import { contentOf, type Version } from './version.ts';

/** All versions, and the diff of two of them. The address names the two. */
export function Versions({ assistant }: { assistant: Assistant }) {
  const { version: chosen, against } = useSearch({ from: '/assistants/$assistantId' });
  const { data, error, refetch } = useQuery(versionsQuery(assistant.assistant_id));
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <Loading what="versions" />;
  const find = (number: string | number | undefined) =>
    data.find(({ version }) => String(version) === String(number));
  const selected = find(chosen) ?? find(assistant.version) ?? data[0];
  if (!selected) return null;
  const other = find(against) ?? find(selected.version - 1);
  return (
    <div className="grid min-h-0 flex-1 gap-4 max-lg:auto-rows-max lg:grid-cols-[280px_1fr] lg:grid-rows-[minmax(0,1fr)]">
      <Card className="overflow-auto max-lg:max-h-60">
        <ol aria-label="Versions">
          {data.map((each) => (
            <li key={each.version} className="border-b border-line last:border-0">
              <Line
                version={each}
                isLatest={each.version === assistant.version}
                isSelected={each.version === selected.version}
              />
            </li>
          ))}
        </ol>
      </Card>
      <Comparison assistant={assistant} selected={selected} other={other} all={data} />
    </div>
  );
}

function Line({
  version,
  isLatest,
  isSelected,
}: {
  version: Version;
  isLatest: boolean;
  isSelected: boolean;
}) {
  const navigate = useNavigate({ from: '/assistants/$assistantId' });
  return (
    <button
      type="button"
      aria-pressed={isSelected}
      className="flex w-full items-center gap-2 px-3 py-2 text-left hover:bg-sunk aria-pressed:bg-sunk"
      onClick={() =>
        void navigate({
          search: (before) => ({ ...before, version: String(version.version), against: undefined }),
          replace: true,
        })
      }
    >
      <span className="font-medium">Version {version.version}</span>
      {isLatest && <span className="rounded-md bg-ok-bg px-1.5 text-xs text-ok">latest</span>}
      <span className="ml-auto text-ink-3">
        <Ago at={version.created_at} />
      </span>
    </button>
  );
}

interface ComparisonProps {
  readonly assistant: Assistant;
  readonly selected: Version;
  readonly other: Version | undefined;
  readonly all: readonly Version[];
}

function Comparison({ assistant, selected, other, all }: ComparisonProps) {
  const { setLatest } = useAssistantChanges(assistant.assistant_id);
  const { can } = useSession();
  const navigate = useNavigate({ from: '/assistants/$assistantId' });
  const others = all.filter(({ version }) => version !== selected.version);
  return (
    <Card className="flex min-h-60 min-w-0 flex-col overflow-hidden">
      <header className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <h2 className="font-medium">Version {selected.version}</h2>
        {others.length > 0 && (
          <>
            <span className="text-ink-2">compared with</span>
            <Select
              aria-label="Compared with"
              value={String(other?.version ?? '')}
              onChange={({ target }) =>
                void navigate({ search: (before) => ({ ...before, against: target.value }), replace: true })
              }
              options={[
                ...(other ? [] : [['', 'nothing'] as const]),
                ...others.map(({ version }) => [String(version), `version ${version}`] as const),
              ]}
            />
          </>
        )}
        {setLatest.error && (
          <span role="alert" className="text-err">
            {setLatest.error.message}
          </span>
        )}
        {can('admin') && selected.version !== assistant.version && (
          <Button
            className="ml-auto"
            disabled={setLatest.isPending}
            onClick={() => setLatest.mutate(selected.version)}
          >
            Set as latest
          </Button>
        )}
      </header>
      <section
        aria-label="Changes"
        tabIndex={0}
        className="min-h-0 flex-1 overflow-auto py-3 font-mono text-xs/[19px]"
      >
        {diffOf(other && contentOf(other), contentOf(selected)).map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of a comparison never move
          <DiffText key={i} line={line} />
        ))}
      </section>
    </Card>
  );
}
