import { Prompter } from '../ask/prompter.ts';
import { columns } from '../command.ts';
import { readTemplate, TEMPLATES, type TemplateName } from './templates.ts';

/** Asks a person at a terminal; an empty line, the end of input and every other caller get the default. */
export async function chooseTemplate(): Promise<TemplateName> {
  const [preset] = TEMPLATES;
  if (!process.stdin.isTTY || !process.stdout.isTTY) return preset;
  const summaries = await Promise.all(TEMPLATES.map(async (name) => (await readTemplate(name)).summary));
  const rows = TEMPLATES.map((name, index) => [`${index + 1}`, name, summaries[index] ?? '']);
  using person = new Prompter();
  let question = `${columns(rows).join('\n')}\n\nWhich template? (1) `;
  for (;;) {
    const line = (await person.ask(question))?.trim();
    if (line === undefined || line === '') return preset;
    const chosen = TEMPLATES.find((name, index) => line === name || line === `${index + 1}`);
    if (chosen !== undefined) return chosen;
    question = `1 to ${TEMPLATES.length}? `;
  }
}
