import { type CSSProperties, type KeyboardEvent, type PointerEvent, type ReactNode, useState } from 'react';

/** Widths by the name of the column, px. */
type Widths = Readonly<Record<string, number>>;

const KEY = 'studio.columns.';
const MIN_PX = 48;
const MAX_PX = 1200;
/** By an arrow key. */
const STEP_PX = 16;
/** Of a column that has come since widths were chosen. */
const NEW_PX = 160;

interface ColumnWidths {
  /** For the table. */
  readonly style: CSSProperties | undefined;
  readonly className: string;
  /** First in the table. */
  readonly columns: ReactNode;
  /** In the heading of a column, which is `relative` and names the column in `data-column`. */
  readonly handle: (name: string) => ReactNode;
}

/**
 * Columns that are as wide as their content until the reader drags the edge of one, or presses an arrow key there. From then
 * on all have fixed widths, which this browser keeps under the table's label. Enter or a double click makes them automatic again.
 */
export function useColumnWidths(label: string, names: readonly string[]): ColumnWidths {
  const [widths, setWidths] = useState(() => kept(label));
  function set(next: Widths | undefined) {
    setWidths(next);
    keep(label, next);
  }
  const widthOf = (name: string) => widths?.[name] ?? NEW_PX;
  const total = names.reduce((sum, name) => sum + widthOf(name), 0);
  return {
    style: widths && { tableLayout: 'fixed', width: total },
    className: widths
      ? 'min-w-full [&_td]:overflow-hidden [&_td]:text-ellipsis [&_th]:overflow-hidden'
      : 'w-full',
    columns: widths && (
      <colgroup>
        {names.map((name, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two fields of the user's may have one name
          <col key={i} style={{ width: widthOf(name) }} />
        ))}
        {/* Takes what is left of the table. */}
        <col />
      </colgroup>
    ),
    handle: (name) => (
      <Handle name={name} number={names.indexOf(name) + 1} width={widths?.[name]} set={set} />
    ),
  };
}

interface HandleProps {
  readonly name: string;
  /** From 1. */
  readonly number: number;
  /** `undefined` for an automatic one. */
  readonly width: number | undefined;
  readonly set: (widths: Widths | undefined) => void;
}

/** The edge of a column. */
function Handle({ name, number, width, set }: HandleProps) {
  const [drag, setDrag] = useState<{ readonly from: number; readonly widths: Widths }>();
  const resize = (widths: Widths, by: number) =>
    set({ ...widths, [name]: Math.min(MAX_PX, Math.max(MIN_PX, (widths[name] ?? NEW_PX) + by)) });
  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const by = { ArrowLeft: -STEP_PX, ArrowRight: STEP_PX }[event.key];
    if (by !== undefined) resize(shownWidths(event.currentTarget), by);
    else if (event.key === 'Enter') set(undefined);
    else return;
    event.preventDefault();
    // Tables may move their selection by the same keys.
    event.stopPropagation();
  }
  function onPointerDown(event: PointerEvent<HTMLElement>) {
    event.currentTarget.setPointerCapture(event.pointerId);
    setDrag({ from: event.clientX, widths: shownWidths(event.currentTarget) });
  }
  return (
    <span
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of column ${number}`}
      aria-valuemin={MIN_PX}
      aria-valuemax={MAX_PX}
      aria-valuenow={width ?? MIN_PX}
      aria-valuetext={`${name}: ${width === undefined ? 'automatic' : `${width} pixels`}`}
      tabIndex={0}
      className="absolute inset-y-0 right-0 w-2 cursor-col-resize touch-none border-r-2 border-transparent hover:border-accent focus-visible:border-accent max-sm:hidden"
      onKeyDown={onKeyDown}
      onDoubleClick={() => set(undefined)}
      onPointerDown={onPointerDown}
      onPointerMove={({ clientX }) => drag && resize(drag.widths, clientX - drag.from)}
      onPointerUp={() => setDrag(undefined)}
      onPointerCancel={() => setDrag(undefined)}
    />
  );
}

/** Of all columns of the heading's row, as they are on the screen. */
function shownWidths(handle: HTMLElement): Widths {
  const headings = handle.closest('tr')?.querySelectorAll<HTMLElement>('[data-column]') ?? [];
  return Object.fromEntries(
    [...headings].map((heading) => [heading.dataset['column'] ?? '', heading.offsetWidth]),
  );
}

/** Storage may be disabled. Widths then last as long as the table. */
function kept(label: string): Widths | undefined {
  try {
    const text = localStorage.getItem(KEY + label);
    return text === null ? undefined : (JSON.parse(text) as Widths);
  } catch {
    return undefined;
  }
}

function keep(label: string, widths: Widths | undefined): void {
  try {
    if (widths) localStorage.setItem(KEY + label, JSON.stringify(widths));
    else localStorage.removeItem(KEY + label);
  } catch {
    // As above.
  }
}
