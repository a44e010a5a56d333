import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, api, dataOf, type Schemas } from '../../api/client.ts';
import { startRun } from '../../api/start-run.ts';
import { type Breakpoints, breakpointsOf } from '../graph/breakpoints.ts';
import { type ChatRun, forkPointOf, runsOfThreadQuery, stateQuery } from './chat-queries.ts';
import { useLiveRun } from './live-run.ts';
import { type Message, messagesOf } from './messages.ts';
import { uiMessagesOf, withUiEvent } from './ui-messages.ts';

/** A run to start. Without input it continues from the current state of the thread. */
interface NewRun {
  readonly input?: unknown;
  /** Instead of an input: resume values, a state update, or a node to go to. */
  readonly command?: Schemas['RunCreate']['command'];
  /** Continues from the checkpoint before the message at this index, instead of the shown one. */
  readonly instead_of?: number;
  /** Messages shown until the run has taken the input. */
  readonly messages: readonly Message[];
  /** Interrupts the active run instead of queueing behind it. */
  readonly is_now?: boolean;
  /** Also called after the conversation was left, so that the draft is not lost. */
  readonly onRefused?: () => void;
}

interface ChatPlace {
  readonly assistant_id: string;
  readonly thread_id: string;
  /** Head of the shown branch, unless it is the newest. */
  readonly at: string | undefined;
  /** Whether to show output before the run ends. */
  readonly isStreamed: boolean;
  /** Called when a run was created while the conversation is shown. The newest branch is then its own. */
  readonly onRun: () => void;
}

/** State and actions of a conversation. */
export function useChat({ assistant_id, thread_id, at, isStreamed, onRun }: ChatPlace) {
  const client = useQueryClient();
  const state = useQuery(stateQuery(thread_id, at));
  const runs = useQuery(runsOfThreadQuery(thread_id));
  const active = activeOf(runs.data);
  const { live: followedLive, followed } = useLiveRun(thread_id, active?.run_id, isStreamed);
  // An older version does not include what a run is writing.
  const live = at === undefined ? followedLive : undefined;
  const [sent, setSent] = useState<{ messages: readonly Message[]; run_id?: string }>();
  const create = useMutation({
    mutationFn: async ({ input, command, instead_of, is_now }: NewRun) => {
      const head_id = state.data?.checkpoint_id ?? '';
      const said = { thread_id, head_id, messages: messagesOf(state.data?.values) };
      const checkpoint_id =
        instead_of === undefined ? at : await forkPointOf(client, { ...said, index: instead_of });
      return createRun({ assistant_id, thread_id, isStreamed, input, command, checkpoint_id, is_now });
    },
    onMutate: ({ messages }) => setSent({ messages }),
    onSuccess(run, { messages }) {
      setSent({ messages, run_id: run.run_id });
      client.setQueryData(runsOfThreadQuery(thread_id).queryKey, (before = []) => [run, ...before]);
    },
    onError(_error, { onRefused }) {
      setSent(undefined);
      onRefused?.();
    },
  });
  const isOpen = (run_id: string | undefined) =>
    run_id !== undefined && (run_id === followed || openRuns(runs.data).some((run) => run.run_id === run_id));
  const stop = useMutation({
    mutationFn: ({ run_id }: ChatRun) =>
      dataOf(
        api.POST('/threads/{thread_id}/runs/{run_id}/cancel', { params: { path: { thread_id, run_id } } }),
      ).catch((error: unknown) => {
        // The run has ended by itself.
        if (!(error instanceof ApiError && error.status === 404)) throw error;
      }),
    onSettled: () => client.invalidateQueries({ queryKey: ['thread', thread_id] }),
  });
  const values = live?.values ?? state.data?.values;
  const isSent = sent !== undefined && (create.isPending || isOpen(sent.run_id));
  const isWaiting = isSent && live?.values !== undefined && live.run_id !== sent.run_id;
  const settled = isSent && live?.values === undefined ? sent.messages : messagesOf(values);
  return {
    state,
    values,
    messages: [...settled, ...(live?.messages ?? []), ...(isWaiting ? sent.messages.slice(-1) : [])],
    /** Messages from this index on are being streamed. */
    first_live: settled.length,
    /** The UI messages of the graph. */
    ui: (live?.ui_events ?? []).reduce(withUiEvent, uiMessagesOf(values)),
    error: live?.error,
    active,
    last_run: runs.data?.[0],
    is_busy: isSent || active !== undefined || followed !== undefined,
    create,
    /** Creates a run. A late response does not call `onRun` and `onSent`, as another conversation may be shown by then. */
    start: (run: NewRun, onSent?: () => void) =>
      create.mutate(run, {
        onSuccess() {
          onRun();
          onSent?.();
        },
      }),
    stop: () => active && stop.mutate(active),
    /** A queued run would end with the active one, and its message would be lost. */
    may_interrupt: active?.status === 'running' && openRuns(runs.data).length === 1,
    stop_error: stop.error,
  };
}

export type Chat = ReturnType<typeof useChat>;

function openRuns(runs: readonly ChatRun[] = []): readonly ChatRun[] {
  return runs.filter(({ status }) => status === 'running' || status === 'pending');
}

/** The running run, or else the next queued one. */
function activeOf(runs: readonly ChatRun[] | undefined): ChatRun | undefined {
  const open = openRuns(runs);
  return open.find(({ status }) => status === 'running') ?? open.at(-1);
}

/** In the API's form, which has no empty lists. */
function stopsOf({ interrupt_before = [], interrupt_after = [] }: Breakpoints) {
  return {
    ...(interrupt_before.length > 0 && { interrupt_before: [...interrupt_before] }),
    ...(interrupt_after.length > 0 && { interrupt_after: [...interrupt_after] }),
  };
}

/** Stream modes of an unwatched run: its models need not stream. */
const WITHOUT_TOKENS = { stream_mode: ['updates' as const], stream_subgraphs: false };

/** Creates a run, and its thread if needed. */
function createRun(run: {
  assistant_id: string;
  thread_id: string;
  isStreamed: boolean;
  input: unknown;
  command?: Schemas['RunCreate']['command'];
  checkpoint_id?: string | undefined;
  is_now?: boolean | undefined;
}): Promise<Schemas['Run']> {
  const { assistant_id, thread_id, isStreamed, input = null, command, checkpoint_id, is_now = false } = run;
  return startRun(thread_id, {
    ...(!isStreamed && WITHOUT_TOKENS),
    ...stopsOf(breakpointsOf(assistant_id)),
    assistant_id,
    ...(command === undefined ? { input } : { command }),
    if_not_exists: 'create',
    ...(checkpoint_id !== undefined && { checkpoint_id }),
    ...(is_now && { multitask_strategy: 'interrupt' as const }),
  });
}

interface FirstRun extends Pick<NewRun, 'onRefused'> {
  readonly input: unknown;
  readonly title: string;
}

/** Starts a thread with its first run, titled after the input. */
export function useNewThread(
  place: Pick<ChatPlace, 'assistant_id' | 'thread_id' | 'isStreamed'>,
  onCreated: () => void,
) {
  const client = useQueryClient();
  const { thread_id } = place;
  return useMutation({
    mutationFn: async ({ input, title }: FirstRun) => {
      const run = await createRun({ ...place, input });
      // The title is optional: the thread works without it.
      await api
        .PATCH('/threads/{thread_id}', { params: { path: { thread_id } }, body: { metadata: { title } } })
        .catch(() => {});
      return run;
    },
    onSuccess(run) {
      client.setQueryData(runsOfThreadQuery(thread_id).queryKey, [run]);
      onCreated();
    },
    onError: (_error, { onRefused }) => onRefused?.(),
  });
}
