import { useEffect, useRef, useState } from 'react';
import { followEvents, MAX_EVENTS, type RunEvent } from './follow-events.ts';

/** Render interval, ms: a stream can bring thousands of events a second. */
const REFRESH_MS = 150;

interface Events {
  readonly events: readonly RunEvent[];
  readonly hasEnded: boolean;
  readonly error: unknown;
}

const NONE: Events = { events: [], hasEnded: false, error: undefined };

/** The events of a run, live. While paused the list does not change, but no event is lost. */
export function useEvents(thread_id: string, run_id: string, isPaused: boolean): Events {
  const [shown, setShown] = useState(NONE);
  const latest = useRef(NONE);
  const paused = useRef(isPaused);
  const show = useRef(() => {});
  useEffect(() => {
    const stop = new AbortController();
    let received: RunEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    latest.current = NONE;
    show.current = () => {
      timer = undefined;
      if (received.length > 0) {
        const events = [...latest.current.events, ...received];
        latest.current = { ...latest.current, events: events.slice(-MAX_EVENTS) };
        received = [];
      }
      if (!paused.current) setShown(latest.current);
    };
    const end = (error?: unknown) => {
      if (stop.signal.aborted) return;
      show.current();
      latest.current = { ...latest.current, hasEnded: true, error };
      show.current();
    };
    followEvents({ thread_id, run_id }, stop.signal, (event) => {
      received.push(event);
      timer ??= setTimeout(show.current, REFRESH_MS);
    }).then(() => end(), end);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [thread_id, run_id]);
  useEffect(() => {
    paused.current = isPaused;
    if (!isPaused) show.current();
  }, [isPaused]);
  return shown;
}
