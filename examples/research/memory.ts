import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { z } from 'zod';
import { Finding } from './findings.ts';

/** `context.user`: for whom findings are remembered. An authenticated user counts before it. */
export const Context = z.object({ user: z.string().optional() });
export type Context = z.infer<typeof Context>;

type Config = LangGraphRunnableConfig<Context>;

/** What earlier runs of this user found, on any thread. */
export async function recalled(topics: string[], config: Config): Promise<Finding[]> {
  const items = await Promise.all(topics.map((topic) => config.store?.get(shelfOf(config), topic)));
  return items.flatMap((item) => (item ? [Finding.parse(item.value)] : []));
}

export async function remember(findings: Finding[], config: Config): Promise<void> {
  await Promise.all(findings.map((finding) => config.store?.put(shelfOf(config), finding.topic, finding)));
}

/** The user's namespace in the store. A label of a namespace must not be empty nor hold a dot. */
function shelfOf({ configurable, context }: Config): string[] {
  const { langgraph_auth_user_id } = z
    .looseObject({ langgraph_auth_user_id: z.string().nullish() })
    .parse(configurable);
  const user = langgraph_auth_user_id || context?.user || 'anonymous';
  return ['research', encodeURIComponent(user).replaceAll('.', '%2E')];
}
