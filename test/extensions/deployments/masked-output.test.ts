import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { secretMask } from '../../../src/core/mask-secrets.ts';
import { CommandOutput } from '../../../src/extensions/deployments/build/process/output.ts';

test('the output of a build shows no half of a secret, wherever its line is cut', async () => {
  const mask = secretMask(['hunter2hunter2']);
  for (let length = 1900; length < 2010; length += 1) {
    const lines: string[] = [];
    const stream = new PassThrough();
    new CommandOutput((line) => lines.push(mask(line))).follow(stream);
    stream.write('x'.repeat(length));
    stream.end(`hunter2hunter2${'y'.repeat(100)}\r\nnext`);
    await new Promise((resolve) => stream.on('end', resolve));

    expect(lines.join(), String(length)).not.toContain('hunt');
    expect(lines).toHaveLength(2);
  }
});
