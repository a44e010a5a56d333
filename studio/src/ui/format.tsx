import { useSyncExternalStore } from 'react';

let now = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One clock for all ages on the page. Stopped while none is shown. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // The clock was stopped while no age was shown, perhaps for hours.
  if (timer === undefined) now = Date.now();
  timer ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, 1000);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** Current time, epoch ms, updated every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const;

/** `Class: message`, or the class alone: a run that took too long has no message. */
export function errorLine({ error, message }: { readonly error: string; readonly message: string }): string {
  return [error, message].filter(Boolean).join(': ');
}

/** Time since an event, in its largest unit. The exact time is the tooltip. */
export function Ago({ at }: { at: string }) {
  const past = Math.max(0, useNow() - Date.parse(at));
  const [unit, ms] = UNITS.find(([, ms]) => past >= ms) ?? ['s', 1000];
  const text = past < 1000 ? 'now' : `${Math.floor(past / ms)} ${unit} ago`;
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="whitespace-nowrap">
      {text}
    </time>
  );
}

/** Time from one event to another: `+0.30 s`. The exact time is the tooltip. */
export function After({ at, since }: { at: string; since: string }) {
  const ms = Date.parse(at) - Date.parse(since);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="whitespace-nowrap">
      {`+${duration(Math.max(0, ms))}`}
    </time>
  );
}

/** Time until an event, to the second. The exact time is the tooltip. */
export function Until({ at }: { at: string }) {
  const left = Math.max(0, Date.parse(at) - useNow());
  const seconds = Math.floor(left / 1000);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="whitespace-nowrap">
      {seconds < 60 ? `${seconds} s` : duration(seconds * 1000)}
    </time>
  );
}

/** A time in local time, in the form of ISO 8601 without a zone. */
export function localIso(time: string): string {
  const moment = new Date(time);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}

const ISO_TIME = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})/g;

/** A text of the server with its ISO times in local time, as everywhere else in Studio. */
export function localTimes(text: string): string {
  return text.replace(ISO_TIME, (at) => {
    const time = new Date(at);
    return Number.isNaN(time.getTime()) ? at : time.toLocaleString();
  });
}

/** Formats a duration in ms: `340 ms`, `2.31 s`, `4 min 10 s`, `2 d 3 h`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const i = UNITS.findIndex(([, unit]) => ms >= unit);
  const [unit, size] = UNITS[i] as (typeof UNITS)[number];
  const [smaller, smallerSize] = UNITS[i + 1] as (typeof UNITS)[number];
  const rest = Math.floor((ms % size) / smallerSize);
  return `${Math.floor(ms / size)} ${unit}${rest > 0 ? ` ${rest} ${smaller}` : ''}`;
}

/** Formats a size in bytes: `41 MB`. */
export function byteSize(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes === 0 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}

const COUNT = new Intl.NumberFormat('en');

/** Formats a number: `3,358`. */
export function count(value: number): string {
  return COUNT.format(value);
}

const PERCENT = new Intl.NumberFormat('en', { style: 'percent', maximumSignificantDigits: 2 });

/** Formats a share: `42%`. */
export function percent(part: number): string {
  return PERCENT.format(part);
}

/** `run` for one, `runs` for any other number. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return value === 1 ? one : many;
}

/** Start and end of an id, enough to recognize it. */
export function shortId(id: string): string {
  return id.length <= 13 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}
