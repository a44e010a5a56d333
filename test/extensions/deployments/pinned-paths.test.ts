import { expect, test } from 'vitest';
import { silentLogger } from '../../../src/core/logger.ts';
import {
  type Canary,
  type NamedInPath,
  Serving,
} from '../../../src/extensions/deployments/serving/serving.ts';

const THREAD = '0197f3a0-0000-7000-8000-00000000000a';
const RUN = '0197f3a0-0000-7000-8000-00000000000c';

/** What answers a request, of a deployment whose canary the thread belongs to; the active revision executed one of its runs. */
async function answering(url: string): Promise<unknown> {
  const [active, canary] = ['active', 'canary'].map((revision_id) => {
    return { revision_id, folder: revision_id, mount: revision_id, tracked: { enter() {} } } as never;
  });
  const pins = {
    isOn: false,
    sameCode: () => [],
    hold: () => false,
    others: () => [],
    isCodeIn: () => false,
  } as never;
  const revisionsFor = async ({ thread_id, run_id }: NamedInPath) => [
    ...(run_id === RUN ? ['active'] : []),
    ...(thread_id === THREAD ? ['canary'] : []),
  ];
  const serving = new Serving({
    pins,
    revisionsFor,
    retire: () => {},
    onDecided: () => {},
    logger: silentLogger,
  });
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
])('the thread of a request is found in its path in any encoding: %s', async ([url, expected]) => {
  expect(await answering(url as string)).toBe(expected);
});

test.for([
  [`/threads/${THREAD}/runs/${RUN}/graph`, 'active'],
  [`/threads/${THREAD}/runs/${RUN.toUpperCase()}/graph?xray=true`, 'active'],
  [`/threads/${THREAD}/runs/${RUN.replaceAll('-', '%2D')}/%67raph`, 'active'],
  [`/threads/${THREAD}/runs/${RUN}`, 'canary'],
  [`/threads/${THREAD}/runs/${RUN}/graphs`, 'canary'],
  [`/threads/${THREAD}/runs/0197f3a0-0000-7000-8000-00000000000d/graph`, 'canary'],
])('the run of a request is found in its path only for its graph: %s', async ([url, expected]) => {
  expect(await answering(url as string)).toBe(expected);
});
