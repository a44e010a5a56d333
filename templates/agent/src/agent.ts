import { createAgent, tool } from 'langchain';
import { z } from 'zod';
import { OfflineModel } from './offline-model.ts';
import { offlineRules } from './offline-rules.ts';

export const currentTime = tool(
  ({ timezone }) =>
    new Date().toLocaleString('en-GB', { timeZone: timezone, dateStyle: 'full', timeStyle: 'short' }),
  {
    name: 'current_time',
    description: 'Tells the date and the time in a time zone.',
    schema: z.object({ timezone: z.string().describe('An IANA name, such as Europe/Berlin') }),
  },
);

/** MODEL in .env names a model, such as openai:gpt-4o-mini; without it the agent answers by rules, offline. */
export const agent = createAgent({
  model: process.env['MODEL'] || new OfflineModel(offlineRules),
  tools: [currentTime],
  systemPrompt: 'You are a helpful assistant. Look up the time with your tool before you tell it.',
});
