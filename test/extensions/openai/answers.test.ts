import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Frame } from '../../../src/events/frame.ts';
import { type ChatOutcome, streamAnswer } from '../../../src/extensions/openai/answer.ts';
import { openApp } from '../../support/app.ts';

let server: Awaited<ReturnType<typeof openApp>>;
beforeAll(async () => {
  server = await openApp({ graphs: ['two-voices'], http: { openai: { enabled: true } } });
});
afterAll(() => server[Symbol.asyncDispose]());

type Event = readonly [event: string, data: unknown];

const attempt = (number: number): Event => ['metadata', { run_id: 'r', attempt: number }];
const state = (...messages: readonly [id: string, content: string][]): Event => {
  const answers = messages.map(([id, content]) => ({ type: 'ai', id, content }));
  return ['values', { messages: [{ type: 'human', content: 'Hi' }, ...answers] }];
};
const token = (id: string, content: string, task = 'a:1', step = 1): Event => {
  const place = { langgraph_checkpoint_ns: task, langgraph_step: step };
  return ['messages', [{ type: 'AIMessageChunk', id, content }, place]];
};

/** What a client of a stream reads, and what one reads that waits for the whole answer. */
async function read(...events: Event[]) {
  const frames = events.map(([event, data], seq): Frame => ({ seq, event, data: JSON.stringify(data) }));
  const answer = streamAnswer(
    (async function* () {
      yield* frames;
    })(),
  );
  const pieces: string[] = [];
  let outcome: ChatOutcome | undefined;
  for (let step = await answer.next(); ; step = await answer.next()) {
    if (step.done) {
      outcome = step.value;
      break;
    }
    pieces.push(step.value);
  }
  return { pieces, streamed: pieces.join(''), whole: 'text' in outcome ? outcome.text : outcome };
}

test('two messages that models generate at once are two paragraphs, whole and in a stream', async () => {
  const paragraphs = 'Hello Ann\n\nGoodbye Bob\n\nAnd Eve';
  const body = { model: 'two-voices', messages: [{ role: 'user', content: 'Hi' }] };
  const { choices } = (await server.post('/v1/chat/completions', body)).body;
  const { text } = await server.post('/v1/chat/completions', { ...body, stream: true });
  const chunks = text.split('\n\n').filter((line) => line.startsWith('data: {'));
  const deltas = chunks.map((line) => JSON.parse(line.slice('data: '.length)).choices[0].delta.content ?? '');
  const sorted = (answer: string) => answer.split('\n\n').sort();
  expect([choices[0].message.content, deltas.join('')].map(sorted)).toEqual([
    sorted(paragraphs),
    sorted(paragraphs),
  ]);
});

test('a stream holds a second message back until the first is complete', async () => {
  const { pieces, whole } = await read(
    attempt(1),
    state(),
    token('1', 'Hel'),
    token('2', 'Good', 'b:2'),
    token('1', 'lo'),
    token('2', 'bye', 'b:2'),
    state(['1', 'Hello'], ['2', 'Goodbye']),
    token('3', 'Then', 'c:3', 2),
  );
  expect(pieces).toEqual(['Hel', 'lo', '\n\nGoodbye', '\n\nThen']);
  expect(whole).toBe('Hello\n\nGoodbye\n\nThen');
});

test('messages of one agent are streamed as they are generated, before its graph has ended', async () => {
  const { pieces } = await read(
    attempt(1),
    token('1', 'Let me ', 'agent:1|model:2', 1),
    token('1', 'see.', 'agent:1|model:2', 1),
    token('2', 'It ', 'agent:1|model:3', 3),
    token('2', 'rains.', 'agent:1|model:3', 3),
  );
  expect(pieces).toEqual(['Let me ', 'see.', '\n\nIt ', 'rains.']);
});

test('two models that one node calls at once interrupt each other at most once', async () => {
  const { streamed, whole } = await read(
    attempt(1),
    ...['Hel', 'lo ', 'Ann'].flatMap((text, index) => [
      token('1', text),
      token('2', ['Good', 'bye ', 'Bob'][index] ?? ''),
    ]),
  );
  expect(streamed).toBe('Hel\n\nGoodbye Bob\n\nlo Ann');
  expect(whole).toBe('Hello Ann\n\nGoodbye Bob');
});

test('the text of an abandoned attempt is not part of the answer, and a stream does not repeat it', async () => {
  const { pieces, whole } = await read(
    attempt(1),
    state(),
    token('1', 'The answer '),
    token('1', 'is'),
    attempt(2),
    state(),
    token('2', 'The '),
    token('2', 'answer is 4'),
    token('2', '2.'),
    state(['2', 'The answer is 42.']),
  );
  expect(pieces).toEqual(['The answer ', 'is', ' 4', '2.']);
  expect(whole).toBe('The answer is 42.');
});

test('a stream whose second attempt generates other words continues with them as a paragraph', async () => {
  const { streamed, whole } = await read(
    attempt(1),
    token('1', 'The answer is'),
    attempt(2),
    token('2', 'The '),
    token('2', 'result is '),
    token('2', '42.'),
  );
  expect(streamed).toBe('The answer is\n\nThe result is 42.');
  expect(whole).toBe('The result is 42.');
});

test('a message that is stored before its run is interrupted remains in the answer', async () => {
  const first = ['1', 'First.'] as const;
  const { streamed, whole } = await read(
    attempt(1),
    state(),
    token('1', 'First.'),
    state([...first]),
    token('2', 'Sec', 'b:2', 2),
    attempt(2),
    state([...first]),
    token('3', 'Second.', 'b:2', 2),
    state([...first], ['3', 'Second.']),
  );
  expect([streamed, whole]).toEqual(['First.\n\nSecond.', 'First.\n\nSecond.']);
});

test('a run that repeats its stored messages in a third attempt is streamed once', async () => {
  const { streamed, whole } = await read(
    attempt(1),
    token('1', 'First.'),
    state(['1', 'First.']),
    token('2', 'Second', 'b:2', 2),
    attempt(2),
    state(),
    token('3', 'Fir'),
    attempt(3),
    state(),
    token('4', 'First.'),
    state(['4', 'First.']),
    token('5', 'Second.', 'b:2', 2),
  );
  expect([streamed, whole]).toEqual(['First.\n\nSecond.', 'First.\n\nSecond.']);
});

test('a state that follows lost events is the answer, and lost events at the end are a failure', async () => {
  const lost: Event = ['error', { error: 'EventsLost', message: 'Events 2 to 3 of this run were lost.' }];
  expect((await read(attempt(1), lost, state(['1', 'Hello']))).whole).toBe('Hello');
  expect((await read(attempt(1), lost)).whole).toMatchObject({ is_refusal: false });
});
