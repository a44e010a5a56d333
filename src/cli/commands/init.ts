import { relative, resolve } from 'node:path';
import { type Command, columns, UsageError } from '../command.ts';
import { chooseTemplate } from '../init/choose-template.ts';
import { writeAll } from '../init/files.ts';
import { changesFor, foundIn } from '../init/project-files.ts';
import { readTemplate, TEMPLATES, type Template, templateName } from '../init/templates.ts';

export const init: Command = {
  name: 'init',
  summary: 'Creates a project with an agent and its test, or adds what is missing to an existing one',
  args: [{ name: 'folder', text: 'folder of the project (default: the current folder)' }],
  flags: {
    template: {
      value: 'NAME',
      text: `${TEMPLATES.join(', ')} (default: asks at a terminal, else ${TEMPLATES[0]})`,
    },
    vendor: { text: 'packs the server into the project, to install it where no registry has it' },
  },
  async run({ folder = '.', template, vendor }) {
    const root = resolve(folder);
    const named = template === undefined ? undefined : templateName(template);
    const found = await foundIn(root);
    const isNew = !found.configured && !found.agent;
    if (named !== undefined && !isNew)
      throw new UsageError(
        `init: ${root} has an agent already, so it gets none of the template ${named}: leave out --template, or name another folder`,
      );
    const chosen = named ?? (isNew ? await chooseTemplate() : TEMPLATES[0]);
    const [file, ...others] = await changesFor(root, found, chosen, vendor === 'true');
    // Configuration and agent are written last: while they are missing, a rerun completes the project.
    await writeAll(root, [file, ...others.toReversed()]);
    const rows = [file, ...others].map(({ state, name }) => [state, name]);
    const steps = nextSteps(folder, isNew ? await readTemplate(chosen) : undefined);
    process.stdout.write(`${columns(rows).join('\n')}\n\nNext:\n\n${steps.join('\n')}\n`);
    return 0;
  },
};

/** Shell commands to run next. `template`: that of the new agent. */
function nextSteps(folder: string, template: Template | undefined): string[] {
  const place = relative(process.cwd(), resolve(folder));
  const ready = template && [
    '  npm run dev',
    ...(template.next ? [`  ${template.next}`] : []),
    `  npx agent-server ask agent "${template.question}"   (in a second terminal)`,
  ];
  return [
    ...(place === '' ? [] : [`  cd ${quoted(place)}`]),
    '  npm install',
    ...(ready ?? ['  npx agent-server check', '  npx agent-server dev']),
  ];
}

/** Quotes a path as one shell word that cannot be read as a flag. */
function quoted(path: string): string {
  const word = path.startsWith('-') ? `./${path}` : path;
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
