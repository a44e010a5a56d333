import type { FromFrame, ToFrame } from './protocol.ts';

/*
 * The code of a component runs in this realm after this module. It can replace every global function, but cannot reach this
 * closure. Everything needed later is therefore bound now, and port events are never read by a method that could have been
 * replaced.
 */

const dataOf = bound<MessageEvent, unknown>(MessageEvent.prototype, 'data');
const isTrusted = (event: Event) => event.isTrusted;
const isActive = bound<UserActivation, boolean>(UserActivation.prototype, 'isActive');
const { userActivation } = navigator;
const toJson = JSON.stringify;
const fromJson = JSON.parse;

/** The getter of a property, as a function. */
function bound<Owner extends object, Value>(prototype: Owner, name: keyof Owner): (owner: Owner) => Value {
  const getter = Object.getOwnPropertyDescriptor(prototype, name)?.get as () => Value;
  return Function.prototype.call.bind(getter) as (owner: Owner) => Value;
}

let post: (message: FromFrame) => void = () => undefined;
/** Each user interaction starts at most one run. */
let isUnspent = false;

/**
 * Events that activate a page (HTML §6.4.1), without duplicates of the same interaction: a click is a `pointerdown` and
 * more.
 */
const USES = ['keydown', 'pointerdown', 'pointerup'];
const isRepeated = bound<KeyboardEvent, boolean>(KeyboardEvent.prototype, 'repeat');
const pointerType = bound<PointerEvent, string>(PointerEvent.prototype, 'pointerType');

/** Waits for the port of the chat, the parent window. Other frames of the page can send messages, too. */
export function connect(onMessage: (message: ToFrame) => void): void {
  function onPort({ source, ports: [port] }: MessageEvent) {
    if (source !== parent || port === undefined) return;
    removeEventListener('message', onPort);
    const send = port.postMessage.bind(port);
    post = (message) => send(message);
    port.onmessage = (event) => onMessage(dataOf(event) as ToFrame);
  }
  addEventListener('message', onPort);
  for (const name of USES) addEventListener(name, onUse, { capture: true, passive: true });
}

function onUse(event: Event): void {
  if (!isTrusted(event) || !isNewUse(event)) return;
  isUnspent = true;
  post({ type: 'used' });
}

/** A held key repeats. A mouse activates the page when pressed, a finger when lifted. */
function isNewUse(event: Event): boolean {
  if (event.type === 'keydown') return !isRepeated(event as KeyboardEvent);
  return (pointerType(event as PointerEvent) === 'mouse') === (event.type === 'pointerdown');
}

export type Report = Extract<FromFrame, { type: 'drawn' | 'height' | 'failed' | 'wants stream' }>;

/** Reports the state of the component to the chat. */
export function report(message: Report): void {
  post(message);
}

/** Asks the chat to start a run. Rejected without a click or key press in this frame. */
export function submit(values: unknown, command: unknown): void {
  if (!isUnspent || !isActive(userActivation)) {
    post({ type: 'refused', reason: NO_USE });
    return;
  }
  isUnspent = false;
  // Events and functions cannot be sent. The API takes JSON.
  post({ type: 'submit', values: plain(values), command: plain(command) });
}

/** Asks the chat to stop its run. */
export function stop(): void {
  if (isActive(userActivation)) post({ type: 'stop' });
  else post({ type: 'refused', reason: NO_USE });
}

const NO_USE =
  'Nothing happened: a component can start or stop a run only when you click it or press a key in it.';

function plain(value: unknown): unknown {
  return value === undefined ? undefined : fromJson(toJson(value) ?? 'null');
}
