import type { Schemas } from '../../api/client.ts';
import { localTimes } from '../../ui/format.tsx';
import { Panel } from '../../ui/page.tsx';
import { Pill } from '../../ui/pill.tsx';

/** Problems that the server reports about itself. */
export function Warnings({ warnings }: Pick<Schemas['SystemOverview'], 'warnings'>) {
  if (warnings.length === 0) return null;
  return (
    <Panel title="Warnings">
      <ul className="flex flex-col gap-2">
        {warnings.map(({ check, level, message }) => (
          <li key={message} className="flex flex-col items-start gap-1">
            <Pill tone={level === 'problem' ? 'err' : 'wait'}>{check}</Pill>
            <span className="break-words">{localTimes(message)}</span>
          </li>
        ))}
        <li className="text-ink-3">agent-server doctor checks more, and repairs what it can with --fix.</li>
      </ul>
    </Panel>
  );
}
