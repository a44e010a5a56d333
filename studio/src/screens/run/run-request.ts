import type { Schemas } from '../../api/client.ts';

/** The request that starts a run like this one, without its thread. */
export type RunRequest = Schemas['RunCreate'];

/** Run options that clients can set, by their names in the stored run. */
const OPTIONS: readonly (readonly [recorded: string, sent: keyof RunRequest])[] = [
  ['command', 'command'],
  ['stream_mode', 'stream_mode'],
  ['interrupt_before', 'interrupt_before'],
  ['interrupt_after', 'interrupt_after'],
  ['webhook', 'webhook'],
  ['subgraphs', 'stream_subgraphs'],
  ['resumable', 'stream_resumable'],
];

/** Keys that the server adds to the configuration of every run. */
const OWN_NAMES =
  /^(?:__.*|langgraph_.*|thread_id|run_id|graph_id|assistant_id|user_id|checkpoint_id|checkpoint_ns)$/;

/** The request that starts this run again, without default values. */
export function requestOf({ assistant_id, kwargs, multitask_strategy }: Schemas['Run']): RunRequest {
  const request: Record<string, unknown> = { assistant_id };
  if (!kwargs['command']) request['input'] = kwargs['input'];
  for (const [recorded, sent] of OPTIONS) if (isSet(kwargs[recorded])) request[sent] = kwargs[recorded];
  const config = configOf(kwargs['config']);
  if (isSet(config)) request['config'] = config;
  if (isSet(kwargs['context']) && !isSet(config['configurable'])) request['context'] = kwargs['context'];
  if (multitask_strategy !== 'enqueue') request['multitask_strategy'] = multitask_strategy;
  return request as RunRequest;
}

function configOf(config: unknown): Record<string, unknown> {
  if (typeof config !== 'object' || config === null) return {};
  const { configurable = {}, tags, recursion_limit } = config as Schemas['Config'];
  const own = Object.fromEntries(Object.entries(configurable).filter(([name]) => !OWN_NAMES.test(name)));
  const values = { configurable: own, tags, recursion_limit };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => isSet(value)));
}

function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}
