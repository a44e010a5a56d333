import { expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';
import { closedGate } from '../../support/gate.ts';
import { askLegacy, askModern } from '../../support/mcp-messages.ts';
import { until } from '../../support/until.ts';

type App = Awaited<ReturnType<typeof openApp>>;

function argumentsFor(file: string) {
  return { name: 'held', arguments: { parts: [1], parts_gate: file, child_gate: file } };
}

function executes(app: App): Promise<void> {
  const running = async () => (await app.post('/runs/search', { status: 'running' })).body.length;
  return until('a run executes', async () => (await running()) === 1);
}

test.each([
  ['of an older revision', askLegacy],
  ['of the current revision', askModern],
])(
  'a server that stops ends the calls of clients %s, and their runs stay in the queue',
  async (_who, ask) => {
    using gate = closedGate();
    await using app = await openApp({
      graphs: ['held'],
      http: { mcp: { cancel_on_disconnect: true } },
      one_process: 'it is stopped',
    });
    const { url } = await app.app.listen();
    const overHttp = {
      async post(path: string, payload: unknown, headers: Record<string, string> = {}) {
        const json = { 'content-type': 'application/json', accept: 'application/json', ...headers };
        const answer = await fetch(url + path, {
          method: 'POST',
          headers: json,
          body: JSON.stringify(payload),
        });
        return { status: answer.status, body: await answer.json() };
      },
    };
    const called = ask(overHttp as App, 'tools/call', argumentsFor(gate.file));
    await executes(app);
    await app.app.stop(0);
    expect((await called).error).toMatchObject({ code: expect.any(Number) });
    expect(app.log.map(({ message }) => message)).toContain('run released, it will be retried');
  },
);
