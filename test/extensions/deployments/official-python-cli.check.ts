import { test } from 'vitest';
import { deployStory } from '../../support/deploy-story.ts';
import { PACKAGES } from '../../support/project.ts';
import { pythonWith } from '../../support/python.ts';

const python = pythonWith('langgraph_cli');

test.runIf(python)('the official Python CLI deploys, lists, follows logs and deletes', () =>
  deployStory([python as string, '-m', 'langgraph_cli'], {
    // No registry is needed for it.
    files: { 'package.json': '{ "private": true, "type": "module" }' },
    args: ['--install-command', `ln -s ${PACKAGES} node_modules`],
  }),
);
