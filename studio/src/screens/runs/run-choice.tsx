import { useQuery } from '@tanstack/react-query';
import { assistantName, assistantsQuery } from '../../api/assistants.ts';
import { Select } from '../../ui/fields.tsx';
import { shortId, useNow } from '../../ui/format.tsx';
import { recentRunsQuery } from './runs-query.ts';

interface RunChoiceProps {
  /** Offers runs of this assistant only, which they then need not name. */
  readonly assistantId?: string | undefined;
  readonly run: string | undefined;
  readonly onChoose: (run: string) => void;
  readonly label?: string;
}

/** A select of the latest runs. */
export function RunChoice({ assistantId, run, onChoose, label = 'Run' }: RunChoiceProps) {
  const { data: recent = [] } = useQuery(recentRunsQuery(assistantId));
  const { data: assistants = [] } = useQuery(assistantsQuery);
  const names = new Map(assistants.map((each) => [each.assistant_id, assistantName(each)]));
  const now = useNow();
  const options = recent.map(({ run_id = '', status = '', created_at = '', assistant_id = '' }) => {
    const minutes = Math.floor((now - Date.parse(created_at)) / 60_000);
    const when = minutes < 60 ? `${Math.max(0, minutes)} min ago` : new Date(created_at).toLocaleString();
    const name = assistantId === undefined ? names.get(assistant_id) : undefined;
    return [run_id, [name, status, when, shortId(run_id)].filter(Boolean).join(', ')] as const;
  });
  const isKnown = run === undefined || options.some(([id]) => id === run);
  return (
    <Select
      aria-label={label}
      className="max-w-[min(18rem,100%)]"
      value={run ?? ''}
      onChange={({ target }) => onChoose(target.value)}
      options={[['', 'No run'], ...(isKnown ? [] : [[run, shortId(run)] as const]), ...options]}
    />
  );
}
