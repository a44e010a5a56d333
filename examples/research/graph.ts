import { END, type GraphNode, Send, START, StateGraph, StateSchema } from '@langchain/langgraph';
import { z } from 'zod';
import { type Finding, findings } from './findings.ts';
import { investigate } from './investigate.ts';
import { Context, recalled, remember } from './memory.ts';

const MOST_TOPICS = 8;
const OPENING = /^(?:please\s)?(?:compare|research|investigate|explain|tell me about|what about)\s/;
const BETWEEN_TOPICS = /[,;.?!]|\s(?:and|or|with|versus|vs)\s/;

const question = z.string().default('');
const Question = new StateSchema({ question });

const State = new StateSchema({
  question,
  topics: z.array(z.string()).default(() => []),
  /** The topics that memory already answered. */
  remembered: z.array(z.string()).default(() => []),
  findings,
  report: z.string().default(''),
});

type Node = GraphNode<typeof State, Context>;

/** `Compare heat pumps, insulation and solar panels` has three topics. */
const plan: Node = ({ question }, { writer }) => {
  const parts = question.trim().toLowerCase().replace(OPENING, '').split(BETWEEN_TOPICS);
  const topics = [...new Set(parts.map((part) => part.trim()))]
    .filter((part) => part !== '')
    .slice(0, MOST_TOPICS);
  writer?.({ step: 'plan', topics });
  return { topics };
};

const recall: Node = async ({ topics }, config) => {
  const known = await recalled(topics, config);
  const remembered = known.map(({ topic }) => topic);
  config.writer?.({ step: 'recall', topics: remembered });
  return { findings: known, remembered };
};

/** One branch for each topic that memory does not answer. */
function fanOut({ topics, remembered }: typeof State.State) {
  const open = topics.filter((topic) => !remembered.includes(topic));
  return open.length === 0 ? 'write' : open.map((topic) => new Send('investigate', { topic }));
}

/** Only what was found: the library may answer the rest another day. */
const keep: Node = async (state, config) => {
  const found = answers(state).filter(({ quotes }) => quotes.length > 0);
  await remember(found, config);
  return {};
};

const write: Node = (state) => ({
  report: [`# ${state.question}`, ...answers(state).map(chapter)].join('\n\n'),
});

/** The findings for this question; the thread may hold more from earlier ones. */
function answers({ topics, findings }: typeof State.State): Finding[] {
  return topics.flatMap((topic) => findings.filter((finding) => finding.topic === topic));
}

function chapter({ topic, quotes }: Finding): string {
  const texts = quotes.map(({ file, heading, text }) => `${text} (${file}, ${heading})`);
  return [`## ${topic}`, ...(texts.length > 0 ? texts : ['The library says nothing about it.'])].join('\n\n');
}

export const graph = new StateGraph({ state: State, input: Question, context: Context })
  .addNode('plan', plan)
  .addNode('recall', recall)
  .addNode('investigate', investigate)
  .addNode('keep', keep)
  .addNode('write', write)
  .addEdge(START, 'plan')
  .addEdge('plan', 'recall')
  .addConditionalEdges('recall', fanOut, ['investigate', 'write'])
  .addEdge('investigate', 'keep')
  .addEdge('keep', 'write')
  .addEdge('write', END)
  .compile();
