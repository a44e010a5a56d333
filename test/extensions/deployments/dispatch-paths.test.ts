import type { IncomingMessage, ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { deploymentDispatch } from '../../../src/extensions/deployments/serving/dispatch.ts';
import type { DeploymentSlot } from '../../../src/extensions/deployments/serving/slot.ts';

test('with a deployment at the root, Studio and its session still belong to the server', () => {
  const { request } = deploymentDispatch({
    ...{ prefix: '/agents', page: '/console', root: 'agent' },
    find: () => undefined,
  });
  const response = { writeHead() {}, end() {} } as unknown as ServerResponse;
  const isOwn = (path: string) => !request({ url: `/agents${path}` } as IncomingMessage, response);
  for (const path of ['/console', '/console/runs?status=error', '/console?x', '/studio/session'])
    expect([path, isOwn(path)]).toEqual([path, true]);
  for (const path of ['/consoles', '/threads', '/threads/console'])
    expect([path, isOwn(path)]).toEqual([path, false]);
});

test('a client that resets its upgrade while its deployment is looked up ends only its own connection', () => {
  const slot = { withMount: () => {} } as unknown as DeploymentSlot;
  const { upgrade } = deploymentDispatch({
    ...{ prefix: '', page: '/studio', root: undefined },
    find: () => slot,
  });
  const socket = new Duplex({ read() {}, write() {} });
  const request = { url: '/deployments/agent/threads' } as IncomingMessage;
  expect(upgrade(request, socket, Buffer.alloc(0))).toBe(true);
  // Without a listener this throws, as the uncaught exception would.
  socket.emit('error', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  expect(socket.destroyed).toBe(true);
});
