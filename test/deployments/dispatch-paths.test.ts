import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { deploymentDispatch } from '../../src/app/deployments/dispatch.ts';

test('with a deployment at the root, Studio and its session still belong to the server', () => {
  const { request } = deploymentDispatch({
    ...{ prefix: '/agents', studio_path: '/console', root: 'agent' },
    find: () => undefined,
  });
  const response = { writeHead() {}, end() {} } as unknown as ServerResponse;
  const isOwn = (path: string) => !request({ url: `/agents${path}` } as IncomingMessage, response);
  for (const path of ['/console', '/console/runs?status=error', '/console?x', '/studio/session'])
    expect([path, isOwn(path)]).toEqual([path, true]);
  for (const path of ['/consoles', '/threads', '/threads/console'])
    expect([path, isOwn(path)]).toEqual([path, false]);
});
