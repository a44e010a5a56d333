import { describe, expect, test } from 'vitest';
import { secretMask } from '../../src/core/mask-secrets.ts';
import { RunOutput } from '../../src/graphs/observability/run-output.ts';
import { AttemptLog } from '../../src/workers/attempt-log.ts';
import { recordingLogger } from '../support/recording-logger.ts';

const SECRET = 'hunter2-of-the-database';
const TOKEN = `sk-${'Zm9v'.repeat(10)}`;
const LIMIT = 16 * 1024;

/** What is logged, and what is kept, of what `print` prints. */
function linesOf(print: (output: RunOutput) => void): string[] {
  const lines: string[] = [];
  const logger = recordingLogger('debug', ({ message, fields }) => {
    lines.push(mask(message), mask(JSON.stringify(fields)));
  });
  const mask = secretMask([SECRET]);
  const log = new AttemptLog({
    logger,
    fields: {},
    lease: { run_id: 'run', attempt: 1, token: 1, worker_id: 'worker' } as never,
    assistant_id: 'assistant',
    is_first: true,
    writes: { addDeferred: () => {} } as never,
    rules: { is_logged: true, mask, root: '' },
  });
  using output = new RunOutput({ is_logged: true, sink: (batch) => log.add(batch) });
  print(output);
  output[Symbol.dispose]();
  return lines;
}

/** A text that ends with the secret, which begins `before` characters before the limit; masking makes it short. */
function textTo(secret: string, before: number): string {
  const masked = `ghp_${'a1b2'.repeat(1000)} `.repeat(4);
  return `${masked}${' .'.repeat(LIMIT)}`.slice(0, LIMIT - before) + secret;
}

describe.each([SECRET, TOKEN])('no part of %s is shown if the line limit cuts it', (secret) => {
  const befores = Array.from({ length: secret.length + 45 }, (_, before) => before);

  test('if it is written to stdout in chunks', () => {
    for (const before of befores) {
      const text = `${textTo(secret, before)} and more\nnext\n`;
      for (const at of [LIMIT - 1, LIMIT, LIMIT + 10])
        expectHidden(
          secret,
          linesOf((output) => {
            output.text('stdout', text.slice(0, at), undefined);
            output.text('stdout', text.slice(at), undefined);
          }),
        );
    }
  });

  test('if it is a line of the console', () => {
    const line = { level: 'info', source: 'console', node: undefined } as const;
    for (const before of befores) {
      const message = `${textTo(secret, before)} and more`;
      expectHidden(
        secret,
        linesOf((output) => output.write({ ...line, message })),
      );
    }
  });

  test('if it is a field of a logged line', () => {
    for (const before of befores)
      expectHidden(
        secret,
        linesOf((output) => output.log('info', 'with fields', { a: textTo(secret, before + 10) }, undefined)),
      );
  });
});

test('an overlong line written in chunks is truncated, and the next one begins after its line break', () => {
  const lines = linesOf((output) => {
    for (let piece = 0; piece < 100; piece += 1) output.text('stderr', 'x'.repeat(1000), 'node');
    output.text('stderr', '\nnext\n', 'node');
  });

  const messages = lines.filter((_, index) => index % 2 === 0);
  expect(messages).toEqual([expect.stringMatching(/^x{8000,}… \(cut, 100,000 characters in all\)$/), 'next']);
});

function expectHidden(secret: string, lines: readonly string[]): void {
  const text = lines.join('\n');
  expect(text).not.toContain(secret.slice(3, 7));
  expect(text).not.toContain(secret.slice(-6));
}
