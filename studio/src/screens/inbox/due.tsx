import { Ago, Until, useNow } from '../../ui/format.tsx';

/** The deadline of a question, and whether it has passed. */
export function Due({ at }: { at: string }) {
  const isOver = useNow() >= Date.parse(at);
  return (
    <span className={`whitespace-nowrap ${isOver ? 'text-err' : ''}`}>
      {isOver ? 'was due ' : 'due in '}
      {isOver ? <Ago at={at} /> : <Until at={at} />}
    </span>
  );
}
