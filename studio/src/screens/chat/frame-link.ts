import { isObject } from '../../api/values.ts';
import type { FromFrame, Shown, StreamState, ToFrame } from '../../component-frame/protocol.ts';

/** A component that has not drawn what it was told within this time hangs, ms. */
const HANG_MS = 10_000;

/** States of the thread are sent no closer together: they may be large, ms. */
const STREAM_MS = 250;

/** The connection to the frame of a component. */
export interface FrameLink {
  show(shown: Omit<Shown, 'version'>): void;
  stream(state: StreamState): void;
  /** Nothing is heard of the frame afterwards. */
  close(): void;
}

/**
 * Connects to a frame by a port that only its own code gets, before that of the component is loaded: what the component
 * itself sends to this page is not heard. `hear` must check the values of a message.
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
      // Out of sight, frames are drawn late.
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
  // The frame has no origin that could be named here; `frame-src` of this page keeps it on this server.
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
