import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import { After, Ago, duration, errorLine } from '../../ui/format.tsx';
import { Json } from '../../ui/json.tsx';
import { Card, Facts } from '../../ui/page.tsx';
import { StatusPill } from '../../ui/pill.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { explanationQuery, type ShownStep } from '../run/run-queries.ts';
import { CodeLocation } from './code-location.tsx';
import { allNodes, graphModel } from './graph-model.ts';
import { stateText } from './node-states.ts';
import { StepInput } from './step-input.tsx';
import { useDrawings } from './use-drawings.ts';
import { useRunStates } from './use-run-states.ts';
import { useSchemas } from './use-schemas.ts';

const StepContents = lazy(() =>
  import('../run/step-contents.tsx').then(({ StepContents }) => ({ default: StepContents })),
);

interface NodePanelProps {
  readonly assistantId: string;
  readonly runId: string | undefined;
  /** Id of the node in the drawing. */
  readonly node: string;
  /** Actions of the node. */
  readonly children?: ReactNode;
}

const ENDS = new Set(['__start__', '__end__']);

/** Maximum number of executions shown. A node in a loop can have thousands. */
const SHOWN_STEPS = 20;

/** A node of a graph: its schema and last steps. */
export function NodePanel({ assistantId, runId, node, children }: NodePanelProps) {
  const names = node.split(':');
  const name = names.at(-1) ?? node;
  const { states } = useRunStates(runId);
  const state = states?.get(node);
  const steps = state?.steps.slice(-SHOWN_STEPS).reverse() ?? [];
  const schema = useSchema(assistantId, node, runId);
  return (
    <Card className="flex min-w-0 flex-col gap-4 overflow-auto p-4">
      <h2 className="truncate font-semibold">{titleOf(name)}</h2>
      <Facts
        items={[
          ...(names.length > 1 ? [['In', names.slice(0, -1).join(' / ')] as const] : []),
          ...(runId ? [['In the run', state ? stateText(state) : 'ahead'] as const] : []),
          ...typeFacts(useType(assistantId, runId, node)),
          ...(ENDS.has(name)
            ? []
            : [['Code', <CodeLocation key={node} {...{ assistantId, node }} />] as const]),
        ]}
      />
      {children}
      {runId && steps.length > 0 && (
        <section>
          <h3 className="pb-1 font-medium">Last steps</h3>
          <ol className="flex flex-col gap-1">
            {steps.map((step) => (
              <StepLine key={`${step.attempt}.${step.number}`} runId={runId} step={step} />
            ))}
          </ol>
        </section>
      )}
      {runId && steps[0] && !schema.isPending && (
        <StepInput
          runId={runId}
          step={steps[0]}
          checkpointId={states?.get(names[0] ?? node)?.steps.at(-1)?.checkpoint_id ?? null}
          channels={Object.keys(propertiesOf(schema.schema))}
        />
      )}
      {runId && steps[0] && 'cost' in steps[0] && (
        <Suspense fallback={<Loading what="its contents" />}>
          <StepContents runId={runId} step={steps[0]} />
        </Suspense>
      )}
      <Schema {...schema} />
    </Card>
  );
}

function titleOf(name: string): string {
  if (name === '__start__') return 'Start';
  return name === '__end__' ? 'End' : name;
}

function typeFacts(type: string): (readonly [string, string])[] {
  return type === '' || type === 'RunnableCallable' ? [] : [['Type', type]];
}

function useType(assistantId: string, runId: string | undefined, id: string): string {
  const { plain, xrayed } = useDrawings(assistantId, runId);
  if (!plain || !xrayed) return '';
  const groups = id.split(':').slice(0, -1);
  const expanded = new Set(groups.map((_, i) => groups.slice(0, i + 1).join(':')));
  return allNodes(graphModel(plain, xrayed, expanded).nodes).find((node) => node.id === id)?.type ?? '';
}

function StepLine({ runId, step }: { runId: string; step: ShownStep }) {
  const { attempt, number, status, started_at, ended_at, error } = step;
  const since = useQuery(explanationQuery(runId)).data?.started_at;
  return (
    <li>
      <Link
        to="/runs/$runId"
        params={{ runId }}
        search={{ step: `${attempt}.${number}` }}
        className="-mx-2 flex flex-wrap items-center gap-2 rounded-md px-2 py-1 hover:bg-sunk"
      >
        <StatusPill status={status} />
        {ended_at && <span>{duration(Date.parse(ended_at) - Date.parse(started_at))}</span>}
        <span className="ml-auto text-ink-3">
          {since ? <After at={started_at} since={since} /> : <Ago at={started_at} />}
        </span>
        {error && <span className="w-full break-words text-err">{errorLine(error)}</span>}
      </Link>
    </li>
  );
}

/** Nodes read and write the state of their graph. Start and end have its input and output schema. */
function useSchema(assistantId: string, node: string, runId: string | undefined) {
  const name = node.split(':').at(-1) ?? node;
  const { schemas, error, isPending } = useSchemas(assistantId, node, runId);
  const [title, schema] = {
    __start__: ['Graph input', schemas?.input_schema] as const,
    __end__: ['Graph output', schemas?.output_schema] as const,
  }[name] ?? ['State it reads and writes', schemas?.state_schema];
  return { title, schema: schema ?? {}, error, isPending };
}

function Schema({ title, schema, error, isPending }: ReturnType<typeof useSchema>) {
  if (error) return <Failure error={error} />;
  if (isPending) return <Loading what="the schema" />;
  if (Object.keys(schema).length === 0) {
    return <p className="text-ink-3">The graph declares no schema.</p>;
  }
  return (
    <section className="flex flex-col gap-1">
      <h3 className="font-medium">{title}</h3>
      <Properties schema={schema} />
      <details>
        <summary className="py-1 text-ink-2">JSON Schema</summary>
        <Json value={schema} label={title} />
      </details>
    </section>
  );
}

function Properties({ schema }: { schema: Record<string, unknown> }) {
  const items = Object.entries(propertiesOf(schema)).map(([name, each]) => [name, typeOf(each)] as const);
  return items.length === 0 ? null : <Facts items={items} />;
}

function propertiesOf({ properties }: Record<string, unknown>): object {
  return typeof properties === 'object' && properties !== null ? properties : {};
}

function typeOf(schema: unknown): string {
  if (typeof schema !== 'object' || schema === null) return 'anything';
  if ('enum' in schema && Array.isArray(schema.enum)) return schema.enum.join(', ');
  const type = 'type' in schema ? [schema.type].flat().join(' or ') : 'anything';
  const description =
    'description' in schema && typeof schema.description === 'string' ? ` · ${schema.description}` : '';
  const items = type === 'array' && 'items' in schema ? ` of ${typeOf(schema.items)}` : '';
  return items === '' ? `${type}${description}` : `list${items.split(' · ')[0]}${description}`;
}
