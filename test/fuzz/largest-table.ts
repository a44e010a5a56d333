/** What is asked of a quiet machine, ms. */
const LONGEST_MS = 100;

export interface Pause {
  /** Between two turns of the event loop: with whatever else the machine does, and of CPU time alone. */
  readonly delay_ms: number;
  readonly cpu_ms: number;
}

export interface Measured extends Pause {
  readonly storage: string;
  /** The operation. */
  readonly name: string;
  /** Of its body, as large as it may be. */
  readonly field?: string | undefined;
  readonly status: number;
  readonly body_bytes: number;
  readonly is_bounded: boolean;
}

export function isBelowLimit({ cpu_ms }: Pause): boolean {
  return cpu_ms <= LONGEST_MS;
}

/** A line for each operation, the longest first: its worst request, and its longest pause on each storage. */
export function printTable(title: string, measured: readonly Measured[], rows: number): void {
  const storages = [...new Set(measured.map(({ storage }) => storage))];
  console.log(`\n${title}: longest turn of the event loop, ms of CPU (ms in all)`);
  const head = ['operation'.padEnd(38), 'field'.padEnd(18), 'status', ' rows', '   bytes'];
  console.log([...head, ...storages.map((each) => each.padStart(14))].join(' '));
  const byName = Object.values(Object.groupBy(measured, ({ name }) => name)) as Measured[][];
  const worst = byName.map((each) => ({ each, top: longest(each) }));
  for (const { each, top } of worst.sort((one, other) => other.top.cpu_ms - one.top.cpu_ms)) {
    const cells = storages.map((storage) => {
      const own = each.filter((one) => one.storage === storage);
      return own.length === 0 ? '' : pauseText(longest(own));
    });
    const { name, field = '', status, body_bytes } = top;
    const columns = [name.slice(0, 38).padEnd(38), field.slice(0, 18).padEnd(18), String(status).padStart(6)];
    const sizes = [String(rows).padStart(5), String(body_bytes).padStart(8)];
    console.log([...columns, ...sizes, ...cells.map((cell) => cell.padStart(14))].join(' '));
  }
  const late = worst.filter(({ top }) => !isBelowLimit(top));
  console.log(
    `${late.length} of ${worst.length} operations took more than ${LONGEST_MS} ms of CPU in one turn`,
  );
}

function longest(measured: readonly Measured[]): Measured {
  return measured.reduce((one, other) => (other.cpu_ms > one.cpu_ms ? other : one));
}

function pauseText({ cpu_ms, delay_ms }: Pause): string {
  return `${cpu_ms.toFixed(0)} (${delay_ms.toFixed(0)})`;
}
