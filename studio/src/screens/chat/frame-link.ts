import { isObject } from '../../api/values.ts';
import type { FromFrame, Shown, StreamState, ToFrame } from '../../component-frame/protocol.ts';

/** A component that has not rendered within this time counts as hanging, ms. */
const HANG_MS = 10_000;

/** Minimum interval between thread states, ms: they can be large. */
const STREAM_MS = 250;

/** Connection to a component's frame. */
export interface FrameLink {
  show(shown: Omit<Shown, 'version'>): void;
  stream(state: StreamState): void;
  /** Ignores all further messages of the frame. */
  close(): void;
}

/**
 * Connects to a frame by a port that only the frame's own code gets, before the component is loaded. Messages that the
 * component itself posts to this page are ignored. `hear` must validate messages.
 */
export function linkFrame(frame: Window, hear: (message: FromFrame) => void): FrameLink {
  const { port1, port2 } = new MessageChannel();
  const send = (message: ToFrame) => port1.postMessage(message);
  let version = 0;
  let watch: ReturnType<typeof setTimeout> | undefined;
  let pending: ReturnType<typeof setTimeout> | undefined;
  let state: StreamState | undefined;

  function expectDrawing() {
    clearTimeout(watch);
    watch = setTimeout(() => {
      // Hidden frames are drawn late.
      if (document.hidden) expectDrawing();
      else hear({ type: 'failed', reason: `It did not respond for ${HANG_MS / 1000} seconds.` });
    }, HANG_MS);
  }
  function sendState() {
    pending = undefined;
    if (state === undefined) return;
    send({ type: 'stream', stream: state });
    state = undefined;
    pending = setTimeout(sendState, STREAM_MS);
  }
  port1.onmessage = ({ data }) => {
    if (!isObject(data)) return;
    const message = data as unknown as FromFrame;
    if (message.type === 'drawn') {
      if (message.version === version) clearTimeout(watch);
      else expectDrawing();
    }
    hear(message);
  };
  // The frame has an opaque origin that cannot be named here. The page's `frame-src` keeps it on this server.
  frame.postMessage('connect', '*', [port2]);
  return {
    show(shown) {
      version += 1;
      if (version === 1) expectDrawing();
      send({ type: 'show', shown: { ...shown, version } });
    },
    stream(next) {
      state = next;
      if (pending === undefined) sendState();
    },
    close() {
      clearTimeout(watch);
      clearTimeout(pending);
      port1.close();
    },
  };
}
