import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { StreamEvent } from '../../api/event-stream.ts';
import { pause } from '../../api/follow-stream.ts';
import { runEvents } from '../../api/run-events.ts';
import { withChunk } from './chunks.ts';
import { type Message, messagesOf } from './messages.ts';
import { isUiEvent } from './ui-messages.ts';

/** What a run has emitted that is not yet in the thread's state. */
export interface Live {
  readonly run_id: string;
  /** The newest state. `undefined` before the first one. */
  readonly values: unknown;
  /** Ids of the messages in the state. */
  readonly known: ReadonlySet<unknown>;
  /** Messages that are not in the state yet, in order of their start. */
  readonly messages: readonly Message[];
  /** UI changes since the newest state. */
  readonly ui_events: readonly unknown[];
  readonly error: string | undefined;
}

/** Tokens that arrive within this time are drawn together, ms. */
const DRAW_MS = 40;

/** Delay before following a run again that is still listed as active, ms: its stream or the list of runs was rejected. */
const AGAIN_MS = 1_000;

/**
 * Follows the active run of a thread from its first event, so that every page opened while it runs shows the same. The
 * server stores the events, so a reload, a paused tab or a server restart loses nothing. A run is followed until its final
 * state was loaded, even if the list of runs reports its end earlier. Without streaming, nothing is shown before that.
 */
export function useLiveRun(thread_id: string, active_id: string | undefined, isStreamed: boolean) {
  const client = useQueryClient();
  const [live, setLive] = useState<Live>();
  // An object, so that following the same run again is a state change.
  const [followed, setFollowed] = useState<{ readonly run_id: string }>();
  const last_id = useRef<string>(undefined);
  if (followed === undefined && active_id !== undefined) {
    setFollowed({ run_id: active_id });
    if (live?.run_id !== active_id) setLive(undefined);
  }
  useEffect(() => {
    if (followed === undefined) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let now = beginningOf(followed.run_id);
    const draw = () => {
      timer = undefined;
      setLive(now);
    };
    const take = (event: StreamEvent) => {
      if (!isStreamed && event.event !== 'error') return;
      now = withEvent(now, event);
      timer ??= setTimeout(draw, DRAW_MS);
    };
    async function untilRead(run_id: string) {
      if (last_id.current === run_id) await pause(AGAIN_MS, abort.signal);
      try {
        for await (const event of runEvents({ thread_id, run_id }, abort.signal)) take(event);
      } catch (error) {
        now = { ...now, error: error instanceof Error ? error.message : String(error) };
      }
      if (abort.signal.aborted) return;
      await client.invalidateQueries({ queryKey: ['thread', thread_id] });
      if (abort.signal.aborted) return;
      clearTimeout(timer);
      last_id.current = run_id;
      setLive(
        now.error === undefined ? undefined : { ...now, values: undefined, messages: [], ui_events: [] },
      );
      setFollowed(undefined);
    }
    void untilRead(followed.run_id);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [client, thread_id, followed, isStreamed]);
  const isShown = isStreamed || live?.error !== undefined;
  return { live: isShown ? live : undefined, followed: followed?.run_id };
}

function beginningOf(run_id: string): Live {
  return { run_id, values: undefined, known: new Set(), messages: [], ui_events: [], error: undefined };
}

/** What is shown after an event. */
function withEvent(live: Live, { event, data }: StreamEvent): Live {
  const [mode, namespace] = event.split('|', 2);
  if (mode === 'error') return { ...live, error: errorText(JSON.parse(data)) };
  // States of subgraphs are not thread states.
  if (mode === 'values' && namespace === undefined) {
    const values = JSON.parse(data);
    return {
      ...live,
      values,
      known: new Set(messagesOf(values).map(({ id }) => id)),
      messages: [],
      ui_events: [],
    };
  }
  if (mode === 'custom') {
    const written = JSON.parse(data);
    return isUiEvent(written) ? { ...live, ui_events: [...live.ui_events, written] } : live;
  }
  if (mode !== 'messages') return live;
  const [message] = JSON.parse(data) as [Message];
  if (message.id && live.known.has(message.id)) return live;
  const at = live.messages.findIndex(({ id }) => id === message.id);
  const next = withChunk(live.messages[at], message);
  return { ...live, messages: at < 0 ? [...live.messages, next] : live.messages.with(at, next) };
}

function errorText(error: { error?: string; message?: string }): string {
  return [error.error, error.message].filter(Boolean).join(': ');
}
