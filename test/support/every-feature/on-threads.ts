import { secret, type Talk } from './talk.ts';

const say = (place: string) => ({ messages: [{ role: 'user', id: 'said', content: secret(place) }] });
const MODES = ['values', 'updates', 'messages-tuple', 'custom', 'debug', 'tasks', 'checkpoints', 'events'];

/** Runs of a thread, and what may be done with what they leave. */
export const onThreads: Record<string, (talk: Talk) => Promise<unknown>> = {
  async 'a run with configuration'(talk) {
    const thread_id = await talk.thread();
    const config = { configurable: { flavour: secret('configurable') }, tags: ['tag'] };
    const state = await talk.wait(thread_id, { input: say('run input'), config });
    const context = { flavour: secret('context') };
    const again = await talk.wait(thread_id, { input: say('second input'), context });
    return [
      state,
      again,
      await talk.get(`/threads/${thread_id}`),
      await talk.get(`/threads/${thread_id}/runs`),
      await talk.get(`/threads/${thread_id}/state`),
      await talk.post(`/threads/${thread_id}/history`, { limit: 10 }),
    ];
  },

  async 'an interrupt and its answer'(talk) {
    const thread_id = await talk.thread();
    const config = { configurable: { ask: true } };
    const asked = await talk.wait(thread_id, { input: say('interrupt'), config });
    const waiting = await talk.get(`/threads/${thread_id}`);
    const command = { resume: { right: secret('resume') } };
    return [asked, waiting, await talk.wait(thread_id, { command, config })];
  },

  async 'a command that goes elsewhere'(talk) {
    const thread_id = await talk.thread();
    await talk.wait(thread_id, { input: say('before command') });
    const command = { update: { note: secret('command update') }, goto: 'ask' };
    return talk.wait(thread_id, { command });
  },

  async 'an error'(talk) {
    const thread_id = await talk.thread();
    const answer = await talk.wait(thread_id, { input: say('throw in a node') });
    const runs = await talk.get(`/threads/${thread_id}/runs`);
    return [answer, runs, await talk.get(`/threads/${thread_id}`)];
  },

  async 'a resumable stream'(talk) {
    const thread_id = await talk.thread();
    const body = {
      assistant_id: 'keeper',
      input: say('stream input'),
      stream_mode: MODES,
      stream_resumable: true,
    };
    const first = await talk.events('POST', `/threads/${thread_id}/runs/stream`, body);
    const [{ run_id }] = (await talk.get(`/threads/${thread_id}/runs`)).body;
    const again = await talk.events('GET', `/threads/${thread_id}/runs/${run_id}/stream?last_event_id=-1`);
    return [told(first), told(again)];
  },

  async 'event streaming'(talk) {
    const thread_id = await talk.thread();
    const params = { assistant_id: 'keeper', input: say('event streaming') };
    const command = await talk.post(`/threads/${thread_id}/commands`, { id: 1, method: 'run.start', params });
    const channels = ['values', 'updates', 'messages', 'custom', 'lifecycle', 'checkpoints'];
    const events = await talk.events(
      'POST',
      `/threads/${thread_id}/stream/events`,
      { channels },
      ({ data }) => /"event":"(completed|failed)"/.test(data) && data.includes('"namespace":[]'),
    );
    return [command.body.type, told(events)];
  },

  async 'a state that is written by hand'(talk) {
    const thread_id = await talk.thread();
    await talk.wait(thread_id, { input: say('before update') });
    const values = { note: secret('state update'), long: `${secret('long update')} `.repeat(10) };
    const written = await talk.post(`/threads/${thread_id}/state`, { values, as_node: 'tell' });
    const metadata = { graph_id: 'keeper' };
    const search = { values: { note: values.note }, metadata, select: ['values', 'metadata'] };
    const found = await talk.post('/threads/search', search);
    const none = await talk.post('/threads/search', { ...search, values: { note: 'something else' } });
    const copy = (await talk.post(`/threads/${thread_id}/copy`, {})).body;
    return [written, found, none, await talk.get(`/threads/${copy.thread_id}/state`)];
  },

  async 'runs that wait'(talk) {
    const thread_id = await talk.thread();
    const made = await talk.post(`/threads/${thread_id}/runs`, {
      assistant_id: 'keeper',
      input: say('delayed'),
      after_seconds: 3600,
    });
    return [made.status, made.body.kwargs, made.body.status];
  },

  async 'a request that comes twice'(talk) {
    const thread_id = await talk.thread();
    const body = { assistant_id: 'keeper', input: say('idempotent input') };
    const key = { 'idempotency-key': secret('idempotency key') };
    const first = await talk.post(`/threads/${thread_id}/runs`, body, key);
    const second = await talk.post(`/threads/${thread_id}/runs`, body, key);
    const other = await talk.post(
      `/threads/${thread_id}/runs`,
      { ...body, input: say('refused input') },
      key,
    );
    const assistant = { graph_id: 'keeper', context: { kept: secret('kept answer') } };
    const once = { 'idempotency-key': `${secret('idempotency key')}2` };
    const made = await talk.post('/assistants', assistant, once);
    const again = await talk.post('/assistants', assistant, once);
    await talk.get(`/threads/${thread_id}/runs/${first.body.run_id}/join`);
    return [
      first.body.run_id === second.body.run_id,
      other,
      made.body.context,
      made.body.assistant_id === again.body.assistant_id,
    ];
  },
};

/** Events mode by mode, without their ids: which of two modes comes first is a matter of who got its turn. */
function told(events: readonly { event: string; data: string }[]): string[] {
  const ordered = [...events].sort((one, other) =>
    one.event < other.event ? -1 : Number(one.event > other.event),
  );
  return ordered.map(({ event, data }) => `${event} ${data}`);
}
