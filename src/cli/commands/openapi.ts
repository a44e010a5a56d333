import { writeFile } from 'node:fs/promises';
import { VERSION } from '../../config/version.ts';
import type { Command } from '../command.ts';

export const openapi: Command = {
  name: 'openapi',
  summary: 'Prints the OpenAPI document of the server',
  flags: { output: { value: 'FILE', text: 'file to write it to' } },
  async run({ output }) {
    const { openApiDocument } = await import('../../app/openapi-document.ts');
    const text = `${JSON.stringify(await openApiDocument(VERSION), null, 2)}\n`;
    if (output === undefined) process.stdout.write(text);
    else await writeFile(output, text);
    return 0;
  },
};
