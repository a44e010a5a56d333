import { a2a } from './a2a/extension.ts';
import { deployments } from './deployments/extension.ts';
import type { Extension } from './extension.ts';
import { generativeUi } from './generative-ui/extension.ts';
import { mcp } from './mcp/extension.ts';
import { openai } from './openai/extension.ts';
import { operations } from './operations/extension.ts';
import { studio } from './studio/extension.ts';
import { tracing } from './tracing/extension.ts';
import { usage } from './usage/extension.ts';

/** Every extension of the server. No other file names them; one is removed with its folder and its line here. */
export const EXTENSIONS: readonly Extension[] = [
  a2a,
  mcp,
  generativeUi,
  studio,
  openai,
  tracing,
  operations,
  deployments,
  usage,
];
