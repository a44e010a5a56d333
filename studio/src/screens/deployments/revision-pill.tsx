import type { Revision } from '../../api/control-plane.ts';
import { Pill } from '../../ui/pill.tsx';
import { isFailed, isOpen, stateOf } from './revision-state.ts';

export function RevisionPill({ revision, named = false }: { revision: Revision; named?: boolean }) {
  const { word, tone } = stateOf(revision);
  const { number, is_canary, canary_percent } = revision;
  const share = is_canary && canary_percent !== null ? `, ${canary_percent} %` : '';
  return <Pill tone={tone}>{named ? `${word} #${number}` : word + share}</Pill>;
}

interface ServingStateProps {
  readonly active: Revision | undefined;
  readonly latest: Revision | undefined;
}

/** What serves, and the state of the newest revision if it is a different one. */
export function ServingState({ active, latest }: ServingStateProps) {
  const isOther = latest !== undefined && latest.id !== active?.id;
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      {active ? (
        <RevisionPill revision={active} named />
      ) : (
        (!latest || (!isOpen(latest) && !isFailed(latest))) && <Pill tone="idle">not served</Pill>
      )}
      {isOther && <RevisionPill revision={latest} named />}
    </span>
  );
}
