import { createAgent, humanInTheLoopMiddleware, tool } from 'langchain';
import { z } from 'zod';
import { OfflineModel } from './offline-model.ts';
import { offlineRules } from './offline-rules.ts';

/** Prints it, which `npx agent-server logs -f` shows. Call your mail service here. */
export const sendEmail = tool(
  ({ to, text }) => {
    console.log(`e-mail to ${to}: ${text}`);
    return `The e-mail to ${to} was sent: ${text}`;
  },
  {
    name: 'send_email',
    description: 'Sends an e-mail.',
    schema: z.object({ to: z.string(), text: z.string() }),
  },
);

/** MODEL in .env names a model, such as openai:gpt-4o-mini; without it the agent answers by rules, offline. */
export const agent = createAgent({
  model: process.env['MODEL'] || new OfflineModel(offlineRules),
  tools: [sendEmail],
  middleware: [
    // The run waits, for days if need be, until someone has decided.
    humanInTheLoopMiddleware({
      interruptOn: { send_email: { allowedDecisions: ['approve', 'edit', 'reject'] } },
    }),
  ],
  systemPrompt: 'You are a helpful assistant that can send e-mails.',
});
