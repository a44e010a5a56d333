import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { count, duration } from '../../ui/format.tsx';
import { useMoney } from '../../ui/money.ts';
import { Cell, Row, Table } from '../../ui/table.tsx';
import type { TimelineRows } from '../run/timeline-rows.ts';
import { type Used, usedBy } from '../run/used.ts';
import type { StepPair, StepRow } from './step-pairs.ts';

/** Pairs that are drawn at first: a run can have thousands of steps. */
const SHOWN = 300;

interface PairTableProps {
  readonly pairs: readonly StepPair[];
  readonly left: TimelineRows;
  readonly right: TimelineRows;
  readonly selectedId: string | undefined;
  readonly onSelect: (id: string | undefined) => void;
}

/** The steps of two runs in rows, with what each took. Steps that only one of them has are marked. */
export function PairTable({ pairs, left, right, selectedId, onSelect }: PairTableProps) {
  const [isAll, setAll] = useState(false);
  const money = useMoney();
  const costOf = (row: StepRow | undefined) => {
    const cost = usedIn(row)?.cost;
    return cost === undefined || cost === null ? '' : money(cost);
  };
  const shown = isAll ? pairs : pairs.slice(0, SHOWN);
  const used = pairs.flatMap((pair) => [usedIn(pair.left), usedIn(pair.right)]);
  const hasTokens = used.some((each) => each !== undefined && each.tokens > 0);
  const hasCost = used.some((each) => each !== undefined && each.cost !== null);
  const groups = ['Start', 'Time', ...(hasTokens ? ['Tokens'] : []), ...(hasCost ? ['Cost'] : [])];
  return (
    <>
      <Table
        label="Steps"
        columns={[
          'Step',
          ...groups.flatMap((name) => [`${name}, left`, `${name}, right`]),
          'Difference in time',
        ]}
      >
        {shown.map((pair) => (
          <Row key={pair.id}>
            <Cell className="min-w-48 whitespace-nowrap">
              <Name pair={pair} isSelected={pair.id === selectedId} onSelect={onSelect} />
            </Cell>
            <Numbers values={[startOf(pair.left, left), startOf(pair.right, right)]} />
            <Numbers values={[timeText(pair.left), timeText(pair.right)]} />
            {hasTokens && <Numbers values={[tokensOf(pair.left), tokensOf(pair.right)]} />}
            {hasCost && <Numbers values={[costOf(pair.left), costOf(pair.right)]} />}
            <Cell className="whitespace-nowrap">{differenceOf(pair)}</Cell>
          </Row>
        ))}
      </Table>
      {shown.length < pairs.length && (
        <Button className="self-center" onClick={() => setAll(true)}>
          Show all {count(pairs.length)} steps
        </Button>
      )}
    </>
  );
}

interface NameProps extends Pick<PairTableProps, 'onSelect'> {
  readonly pair: StepPair;
  readonly isSelected: boolean;
}

function Name({ pair: { id, left, right }, isSelected, onSelect }: NameProps) {
  const row = left ?? right;
  if (!row) return null;
  const only = !right ? 'left only' : !left ? 'right only' : '';
  return (
    <button
      type="button"
      data-opens=""
      aria-pressed={isSelected}
      className="text-left hover:text-accent aria-pressed:font-medium aria-pressed:text-accent"
      style={{ paddingLeft: row.depth * 14 }}
      onClick={() => onSelect(isSelected ? undefined : id)}
    >
      <bdi>{row.name}</bdi> {only !== '' && <span className="pl-1 text-xs text-wait">{only}</span>}
    </button>
  );
}

function Numbers({ values }: { values: readonly [string, string] }) {
  return values.map((value, side) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: left and right
    <Cell key={side} className="whitespace-nowrap text-ink-2">
      {value}
    </Cell>
  ));
}

const usedIn = (row: StepRow | undefined): Used | undefined => row && usedBy([row.step]);
const timeOf = ({ from, to }: StepRow) => to - from;

function startOf(row: StepRow | undefined, { start }: TimelineRows): string {
  return row ? `+${duration(row.from - start)}` : '';
}

function timeText(row: StepRow | undefined): string {
  return row ? duration(timeOf(row)) : '';
}

function tokensOf(row: StepRow | undefined): string {
  const used = usedIn(row);
  return used && used.tokens > 0 ? count(used.tokens) : '';
}

function differenceOf({ left, right }: StepPair): string {
  if (!left || !right) return '';
  const ms = timeOf(right) - timeOf(left);
  return ms === 0 ? '±0 ms' : `${ms < 0 ? '−' : '+'}${duration(Math.abs(ms))}`;
}
