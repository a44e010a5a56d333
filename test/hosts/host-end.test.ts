import { expect, test } from 'vitest';
import { endOf } from '../../src/hosts/pool/host-end.ts';

const crash = { code: null, signal: 'SIGABRT', note: undefined, kill: undefined };

test('any run of a host that crashes without a note may be the cause', () => {
  const { errorFor, run } = endOf(crash);
  expect(run).toBeUndefined();
  expect([errorFor('a').charge, errorFor('b').charge]).toEqual([true, true]);
});

test('a run that was computing when its host crashed is the cause, and no other run is charged', () => {
  const blockedBy = { run_id: 'a', node: 'parse', at: 'graph.ts:1:1' };
  const { errorFor, run, reason } = endOf({ ...crash, blockedBy });
  expect(run?.run_id).toBe('a');
  expect(reason).toContain('parse');
  expect([errorFor('a').charge, errorFor('b').charge]).toEqual([true, false]);
});

test('a note says more than what the host reported last', () => {
  const note = { run_id: 'b', what: 'called process.exit(3)' };
  const { errorFor } = endOf({ ...crash, note, blockedBy: { run_id: 'a' } });
  expect([errorFor('a').charge, errorFor('b').charge]).toEqual([false, true]);
});
