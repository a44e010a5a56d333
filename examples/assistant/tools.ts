import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type ToolRuntime, tool } from '@langchain/core/tools';
import { z } from 'zod';
import { searchMarkdown } from '../markdown-search.ts';

const NOTES = join(import.meta.dirname, 'notes');

export const searchNotes = tool(async ({ query }) => JSON.stringify(await searchMarkdown(NOTES, query, 3)), {
  name: 'search_notes',
  description: 'Finds the passages of the notes that fit a question, best first, each with its file.',
  schema: z.object({ query: z.string().describe('The question, or its keywords') }),
});

export const sendEmail = tool(
  async ({ to, subject, body }, { toolCallId }: ToolRuntime) => {
    const outbox = resolve(process.env['OUTBOX'] ?? '.agent-server/outbox');
    await mkdir(outbox, { recursive: true });
    // Named by the call: a step that runs again after a crash writes the same file and sends nothing twice.
    const file = `${toolCallId.replace(/[^\w-]/g, '_')}.eml`;
    await writeFile(join(outbox, file), `To: ${to}\nSubject: ${subject}\n\n${body}\n`);
    return `The e-mail to ${to} is in the outbox as ${file}.`;
  },
  {
    name: 'send_email',
    description: 'Sends an e-mail. A person has to approve it first.',
    schema: z.object({
      to: z.email(),
      subject: z
        .string()
        .max(200)
        .regex(/^[^\r\n]*$/, 'one line'),
      body: z.string(),
    }),
  },
);

export const tools = [searchNotes, sendEmail];

/** Tools that act on the world outside: a person decides about each call. */
export const SENSITIVE: ReadonlySet<string> = new Set([sendEmail.name]);
