import { expect, test } from 'vitest';
import { type Canary, Serving } from '../../src/app/deployments/serving.ts';

const THREAD = '0197f3a0-0000-7000-8000-00000000000a';

/** What answers a request, of a deployment whose canary the thread belongs to. */
async function answering(url: string): Promise<unknown> {
  const [active, canary] = ['active', 'canary'].map((revision_id) => {
    return { revision_id, folder: revision_id, mount: revision_id, tracked: { enter() {} } } as never;
  });
  const pins = { isOn: false, sameCode: () => [], hold: () => false, others: () => [] } as never;
  const revisionOf = async (thread_id: string) => (thread_id === THREAD ? 'canary' : undefined);
  const serving = new Serving({ pins, revisionOf, retire: () => {}, onDecided: () => {} });
  serving.serve(active as never);
  serving.serveCanary({ revision_id: 'canary', percent: 1, config: undefined, served: canary } as Canary);
  return await new Promise((resolve) => serving.withMount(url, resolve));
}

test.for([
  [`/threads/${THREAD}/state`, 'canary'],
  [`/threads/%30197f3a0-0000-7000-8000-00000000000a/state`, 'canary'],
  [`/%74hreads/${THREAD.replaceAll('-', '%2D')}?x=1`, 'canary'],
  [`http://agent.example/threads/${THREAD.toUpperCase()}`, 'canary'],
  [`/runs?after=/threads/${THREAD}`, 'active'],
  ['/threads/0197f3a0-0000-7000-8000-00000000000b', 'active'],
])('a thread is found in the path however it is encoded: %s', async ([url, expected]) => {
  expect(await answering(url as string)).toBe(expected);
});
