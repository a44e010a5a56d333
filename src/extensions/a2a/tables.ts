import type { JsonText } from '../../db/json.ts';

/*
 * Generated from the migrations. Do not edit it, but write it anew after a migration:
 * npx vitest run test/storage/tables.test.ts -u
 */

type Uuid = string;
/** ISO-8601, in UTC with milliseconds. */
type Timestamp = string;

declare module '../../db/tables.ts' {
  interface Tables {
    a2a_push_configs: {
      task_id: Uuid;
      config_id: string;
      version: '0.3' | '1.0';
      url: string;
      token: string | null;
      scheme: string | null;
      credentials: string | null;
      created_at: Timestamp;
    };
    a2a_tasks: {
      task_id: Uuid;
      thread_id: Uuid;
      assistant_id: Uuid;
      context_id: string;
      run_id: Uuid;
      state: string | null;
      state_at: Timestamp | null;
      reason: string | null;
      artifacts: JsonText;
      created_at: Timestamp;
    };
    a2a_turns: {
      seq: number;
      task_id: Uuid;
      run_id: Uuid;
      position: number;
      is_stored: number;
      message: JsonText;
    };
  }
}
