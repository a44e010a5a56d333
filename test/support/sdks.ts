import { Client } from '@langchain/langgraph-sdk';
import { Client as OlderClient } from 'langgraph-sdk-2';

/** The official JavaScript clients of both generations, with their versions. */
export const SDKS: readonly [string, typeof Client][] = [
  ['1.12', Client],
  ['2.0', OlderClient as unknown as typeof Client],
];
