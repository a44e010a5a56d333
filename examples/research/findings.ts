import { ReducedValue } from '@langchain/langgraph';
import { z } from 'zod';

/** What the library says about one topic. */
export const Finding = z.object({
  topic: z.string(),
  quotes: z.array(z.object({ file: z.string(), heading: z.string(), text: z.string() })),
});
export type Finding = z.infer<typeof Finding>;

/** State shared by the graph and its subgraph: branches that run at the same time each add theirs. */
export const findings = new ReducedValue(
  z.array(Finding).default(() => []),
  { reducer: latestOfEachTopic },
);

function latestOfEachTopic(before: Finding[], added: Finding[]): Finding[] {
  return [...new Map([...before, ...added].map((finding) => [finding.topic, finding])).values()];
}
