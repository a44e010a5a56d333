import { createDeepAgent } from 'deepagents';
import { todoListMiddleware } from 'langchain';
import { type Answer, OfflineModel, type Turn } from './offline-model.ts';
import { criticRules, researcherRules, supervisorRules } from './offline-rules.ts';
import { searchNotes } from './search-notes.ts';

/** MODEL in .env names a model, such as openai:gpt-4o-mini; without it each agent answers by its rules, offline. */
const modelOr = (rules: (turn: Turn) => Answer) => process.env['MODEL'] || new OfflineModel(rules);

/** Delegates to its subagents, which work in conversations of their own and return only a result. */
export const agent = createDeepAgent({
  model: modelOr(supervisorRules),
  systemPrompt:
    'You answer questions about a town. Plan first. Let the researcher find facts and the critic check your draft.',
  middleware: [todoListMiddleware()],
  subagents: [
    {
      name: 'researcher',
      description: 'Finds facts in the notes. Give it one question.',
      systemPrompt: 'Search the notes, and report only what they say, with the name of the file.',
      tools: [searchNotes],
      model: modelOr(researcherRules),
    },
    {
      name: 'critic',
      description: 'Checks a draft against its question. Give it both.',
      systemPrompt: 'Name what is missing or wrong in the draft, in one sentence.',
      tools: [],
      model: modelOr(criticRules),
    },
  ],
});
