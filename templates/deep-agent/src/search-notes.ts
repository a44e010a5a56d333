import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tool } from 'langchain';
import { z } from 'zod';

const NOTES = join(import.meta.dirname, '../notes');

/** Returns the lines that share the most words with the query, each with its file. */
export const searchNotes = tool(
  async ({ query }) => {
    const wanted = new Set(wordsOf(query));
    const files = await readdir(NOTES);
    const lines = await Promise.all(
      files.map(async (name) => {
        const text = await readFile(join(NOTES, name), 'utf8');
        return text.split('\n').map((line) => ({ name, line }));
      }),
    );
    const found = lines
      .flat()
      .map(({ name, line }) => ({
        text: `${name}: ${line}`,
        hits: wordsOf(line).filter((word) => wanted.has(word)).length,
      }))
      .filter(({ hits }) => hits > 0)
      .sort((a, b) => b.hits - a.hits);
    return found.length === 0
      ? 'The notes say nothing about it.'
      : found
          .slice(0, 3)
          .map(({ text }) => text)
          .join('\n');
  },
  {
    name: 'search_notes',
    description: 'Searches the notes in the folder notes/.',
    schema: z.object({ query: z.string() }),
  },
);

/** Words of four letters and more: shorter ones are in every line. */
function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}{4,}/gu) ?? [];
}
