import { Ago, Until, useNow } from '../../ui/format.tsx';

/** Until when an answer is wanted, and whether that is over. */
export function Due({ at }: { at: string }) {
  const isOver = useNow() >= Date.parse(at);
  return (
    <span className={`whitespace-nowrap ${isOver ? 'text-err' : ''}`}>
      {isOver ? 'was due ' : 'due in '}
      {isOver ? <Ago at={at} /> : <Until at={at} />}
    </span>
  );
}
