import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Schemas } from '../../api/client.ts';
import type { JsonObject } from '../../api/values.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/fields.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { exampleInput } from '../connect/example-input.ts';
import { nodesQuery } from './graph-queries.ts';
import { callOf, fromState, type NodeRunRequest, outcomeOf, startNodeRun, withInput } from './node-run.ts';
import { RunNodeForm } from './run-node-form.tsx';
import { RunNodeResult } from './run-node-result.tsx';
import { useLastState } from './use-last-state.ts';
import { useSchemas } from './use-schemas.ts';

interface RunNodeProps {
  readonly assistantId: string;
  readonly node: string;
  /** Run whose state before the last step of the node prefills the form. */
  readonly runId: string | undefined;
}

/** Form that executes one node, or one of its tools. */
export function RunNode(props: RunNodeProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button className="self-start" onClick={() => setOpen(true)}>
        Run this node …
      </Button>
      <Dialog
        title={
          <>
            Run <bdi>{props.node}</bdi> on its own
          </>
        }
        open={isOpen}
        onClose={() => setOpen(false)}
      >
        <Prepared {...props} />
      </Dialog>
    </>
  );
}

function Prepared({ assistantId, node, runId }: RunNodeProps) {
  const nodes = useQuery(nodesQuery(assistantId));
  const schemas = useSchemas(assistantId, node);
  const last = useLastState(node, runId);
  const failed = [nodes, schemas, last].find(({ error }) => error !== null);
  if (failed) return <Failure error={failed.error} retry={() => void failed.refetch()} />;
  if (!nodes.data || schemas.isPending || last.isLoading) return <Loading what="what it takes" />;
  const { tools = [] } = nodes.data.find(({ id }) => id === node) ?? {};
  const state = schemas.schemas?.state_schema ?? {};
  return <Bench {...{ assistantId, node, tools, state }} last={last.data} />;
}

interface BenchProps {
  readonly assistantId: string;
  readonly node: string;
  readonly tools: readonly Schemas['GraphTool'][];
  /** JSON Schema of the state. */
  readonly state: JsonObject;
  /** The state before its last step. */
  readonly last: JsonObject | undefined;
}

/** Prefix of tool names among the options. */
const TOOL = 'tool ';

function Bench({ assistantId, node, tools, state, last }: BenchProps) {
  const [what, setWhat] = useState(tools[0] ? TOOL + tools[0].name : 'state');
  const { run, outcome, error, isPending, execute, clear } = useNodeRun(assistantId, node);
  const tool = tools.find(({ name }) => TOOL + name === what);
  const optional = { ...state, required: [] };
  return (
    <>
      <Field label="Execute">
        <Select
          value={what}
          onChange={({ target }) => {
            setWhat(target.value);
            clear();
          }}
          options={[
            ...tools.map(({ name }) => [TOOL + name, `Tool ${name}`] as const),
            ['state', 'The node, with a state'],
            ['input', 'The node, with its own input, as with Send'],
          ]}
        />
      </Field>
      {tool && tool.description !== '' && <p className="break-words text-ink-2">{tool.description}</p>}
      {what === 'state' && last && (
        <p className="text-ink-2">This is the state its last step in the run started from.</p>
      )}
      <RunNodeForm
        key={what}
        place={`run-node ${assistantId} ${node} ${what}`}
        schema={tool ? tool.input_schema : what === 'state' ? optional : undefined}
        initial={tool ? {} : what === 'state' ? (last ?? exampleInput(state)) : {}}
        isDisabled={isPending}
        onSend={(input) =>
          execute(
            tool
              ? callOf(node, tool.name, input)
              : what === 'state'
                ? fromState(node, input)
                : withInput(node, input),
          )
        }
      />
      <p className="text-xs text-ink-3">
        It is executed for real, on a new thread; nothing comes before it, such as an approval, and nothing
        after.
      </p>
      {error && (
        <p role="alert" className="break-words text-err">
          {error.message}
        </p>
      )}
      {run && !error && (
        <RunNodeResult
          run={run}
          outcome={isPending ? undefined : outcome}
          onAnswer={(id, answer) => execute({ resume: { [id]: answer } }, run.thread_id)}
        />
      )}
    </>
  );
}

/** The newest run of the node, and its result. */
function useNodeRun(assistant_id: string, node: string) {
  const [run, setRun] = useState<Schemas['Run']>();
  const follower = useRef<AbortController>(undefined);
  useEffect(() => () => follower.current?.abort(), []);
  const { mutate, data, error, isPending, reset } = useMutation({
    async mutationFn(request: NodeRunRequest) {
      const own = new AbortController();
      follower.current = own;
      setRun(undefined);
      const begun = await startNodeRun(request);
      if (!own.signal.aborted) setRun(begun);
      return outcomeOf(begun, node, own.signal);
    },
  });
  function execute(command: Schemas['Command'], thread_id?: string) {
    mutate({ assistant_id, node, command, ...(thread_id !== undefined && { thread_id }) });
  }
  function clear() {
    follower.current?.abort();
    setRun(undefined);
    reset();
  }
  return { run, outcome: data, error, isPending, execute, clear };
}
