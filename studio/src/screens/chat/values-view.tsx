import { isObject } from '../../api/values.ts';
import { Json } from '../../ui/json.tsx';
import { Card } from '../../ui/page.tsx';
import { Markdown } from './markdown.tsx';

/** A state without messages: one section per channel, with strings as plain text. */
export function ValuesView({ values }: { values: unknown }) {
  if (!isObject(values) || Object.keys(values).length === 0) return null;
  return (
    <Card className="flex flex-col gap-4 p-4">
      {Object.entries(values).map(([name, value]) => (
        <div key={name} role="group" aria-label={name} className="flex min-w-0 flex-col gap-1">
          <h2 className="font-mono text-xs text-ink-2">{name}</h2>
          <Value name={name} value={value} />
        </div>
      ))}
    </Card>
  );
}

function Value({ name, value }: { name: string; value: unknown }) {
  if (typeof value === 'string') return <Markdown text={value} isLive={false} />;
  if (typeof value === 'object' && value !== null && JSON.stringify(value).length > 60)
    return <Json value={value} label={name} />;
  return <p className="font-mono text-xs break-words">{JSON.stringify(value)}</p>;
}
