import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder by which a test holds the runs of the graph `gate`. */
export interface Gate extends Disposable {
  readonly folder: string;
  /** It exists once the gate is open. */
  readonly file: string;
  /** `pid label` of everybody that came to the gate, in order. */
  entries(): string[];
  open(): void;
}

export function closedGate(): Gate {
  const folder = mkdtempSync(join(tmpdir(), 'agent-server-gate-'));
  const entered = join(folder, 'entered');
  const file = join(folder, 'open');
  return {
    folder,
    file,
    entries: () => (existsSync(entered) ? readFileSync(entered, 'utf8').split('\n').slice(0, -1) : []),
    open: () => writeFileSync(file, ''),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
