import { useQuery } from '@tanstack/react-query';
import { memo, use, useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Json } from '../../ui/json.tsx';
import { ComponentFrame } from './component-frame.tsx';
import { ThreadOfComponents } from './component-thread.ts';
import { uiBundleQuery } from './ui-bundle.ts';
import type { UiMessage } from './ui-messages.ts';
import { useNear } from './use-near.ts';

/** A component of the graph. Its frame exists while it is near the viewport and, once used, as long as the page. */
export const UiComponent = memo(function UiComponent({ message }: { message: UiMessage }) {
  const thread = use(ThreadOfComponents);
  const place = useRef<HTMLDivElement>(null);
  const isNear = useNear(place);
  const [isUsed, setUsed] = useState(false);
  const [height, setHeight] = useState(0);
  const [failure, setFailure] = useState<string>();
  const { name } = message;
  const hasFrame = thread !== undefined && (isNear || isUsed);
  const { data, error, refetch } = useQuery({
    ...uiBundleQuery(thread?.state.assistantId ?? '', name),
    enabled: hasFrame,
  });
  const reason = failure ?? error?.message;
  return (
    <div
      ref={place}
      role="group"
      aria-label={`Component ${name}`}
      className="mb-4 flex min-h-8 min-w-0 flex-col gap-1"
    >
      {reason !== undefined ? (
        <Note
          message={message}
          reason={reason}
          onRetry={() => {
            setFailure(undefined);
            void refetch();
          }}
        />
      ) : hasFrame && data ? (
        <ComponentFrame
          {...{ message, thread, height }}
          bundle={data}
          onHeight={setHeight}
          onUsed={() => setUsed(true)}
          onFailed={setFailure}
        />
      ) : (
        <div style={{ height }} />
      )}
    </div>
  );
});

interface NoteProps {
  readonly message: UiMessage;
  readonly reason: string;
  readonly onRetry: () => void;
}

/** Replaces a component that cannot be shown. */
function Note({ message: { name, props }, reason, onRetry }: NoteProps) {
  return (
    <div className="flex flex-col gap-2 rounded-lg border border-line bg-panel p-3">
      <div className="flex items-start gap-3">
        <p className="min-w-0 flex-1 break-words text-ink-2">
          The component <b className="font-medium text-ink">{name}</b> is not shown: {reason}
        </p>
        <Button look="quiet" className="-my-0.5" onClick={onRetry}>
          Try again
        </Button>
      </div>
      <Json value={props} label={`Props of ${name}`} />
    </div>
  );
}
