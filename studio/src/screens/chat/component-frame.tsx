import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { STUDIO_PATH } from '../../api/base.ts';
import type { FromFrame } from '../../component-frame/protocol.ts';
import { useLook } from '../../theme.ts';
import type { ComponentThread } from './component-thread.ts';
import { type FrameLink, linkFrame } from './frame-link.ts';
import type { UiBundle } from './ui-bundle.ts';
import type { UiMessage } from './ui-messages.ts';

/** Taller components scroll inside their frame, px. */
const MAX_HEIGHT = 600;

interface ComponentFrameProps {
  readonly message: UiMessage;
  readonly bundle: UiBundle;
  readonly thread: ComponentThread;
  /** Height of the previous frame, px. 0 if there was none. */
  readonly height: number;
  readonly onHeight: (px: number) => void;
  readonly onUsed: () => void;
  readonly onFailed: (reason: string) => void;
}

/** A component in a frame with an opaque origin: its code can reach neither this page nor the server. */
export function ComponentFrame(props: ComponentFrameProps) {
  const { message, bundle, thread, height } = props;
  const { link, connect, isDrawn, wantsStream, refusal } = useFrameLink(props);
  const { name, props: shown, metadata } = message;
  const theme = useLook();
  useEffect(() => {
    link?.show({ name, ...bundle, props: shown, meta: metadata ?? undefined, theme });
  }, [link, name, bundle, shown, metadata, theme]);
  useEffect(() => {
    if (wantsStream) link?.stream(thread.state);
  }, [link, wantsStream, thread.state]);
  return (
    <>
      {!isDrawn && <p className="text-xs text-ink-3">Loading {name}…</p>}
      <iframe
        title={`Component ${name}`}
        src={`${STUDIO_PATH}/component-frame.html`}
        sandbox="allow-scripts"
        className={`w-full ${isDrawn ? '' : 'invisible'} ${height < MAX_HEIGHT ? '' : 'rounded-lg border border-line'}`}
        style={{ height }}
        onLoad={({ currentTarget }) => connect(currentTarget)}
      />
      {refusal !== undefined && (
        <p role="status" className="text-xs text-wait">
          {refusal}
        </p>
      )}
    </>
  );
}

/** The connection to a component's frame, and the state it reports. */
function useFrameLink({ thread, onHeight, onUsed, onFailed }: ComponentFrameProps) {
  const [link, setLink] = useState<FrameLink>();
  const [isDrawn, setDrawn] = useState(false);
  const [wantsStream, setWantsStream] = useState(false);
  const [refusal, setRefusal] = useState<string>();
  const hear = (message: FromFrame) => {
    switch (message.type) {
      case 'drawn':
        return setDrawn(true);
      case 'height':
        return onHeight(Math.min(MAX_HEIGHT, Math.ceil(Number(message.px) || 0)));
      case 'failed':
        return onFailed(String(message.reason));
      case 'used':
        return onUsed();
      case 'wants stream':
        return setWantsStream(true);
      case 'submit':
        return setRefusal(thread.submit(message.values, message.command));
      case 'stop':
        return setRefusal(thread.stop());
      case 'refused':
        return setRefusal(String(message.reason));
    }
  };
  const latest = useRef(hear);
  useLayoutEffect(() => {
    latest.current = hear;
  });
  useEffect(() => () => link?.close(), [link]);
  function connect({ contentWindow }: HTMLIFrameElement) {
    // Only the first document of a frame is known to be ours.
    if (link !== undefined) onFailed('It navigated to another page.');
    else if (contentWindow) setLink(linkFrame(contentWindow, (message) => latest.current(message)));
  }
  return { link, connect, isDrawn, wantsStream, refusal };
}
