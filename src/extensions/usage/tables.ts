/*
 * Generated from the migrations. Do not edit it, but write it anew after a migration:
 * npx vitest run test/storage/tables.test.ts -u
 */

type Uuid = string;

declare module '../../db/tables.ts' {
  interface Tables {
    budget_runs: { run_id: Uuid; tokens: number; cost_nanos: number; steps: number };
    budget_sums: {
      scope: 'user_day' | 'key_day' | 'day';
      subject: string;
      day: string;
      tokens: number;
      cost_nanos: number;
      steps: number;
    };
    budget_threads: { thread_id: Uuid; tokens: number; cost_nanos: number; steps: number };
    usage_days: {
      day: string;
      assistant_id: Uuid;
      user_id: string;
      model: string;
      calls: number;
      unpriced_calls: number;
      tokens_in: number;
      tokens_cached: number;
      tokens_out: number;
      cost_nanos: number;
    };
    usage_entries: {
      run_id: Uuid;
      model: string;
      day: string;
      assistant_id: Uuid;
      user_id: string;
      calls: number;
      unpriced_calls: number;
      tokens_in: number;
      tokens_cached: number;
      tokens_out: number;
      cost_nanos: number;
    };
    usage_key_entries: {
      run_id: Uuid;
      model: string;
      day: string;
      assistant_id: Uuid;
      user_id: string;
      key_id: string;
      calls: number;
      unpriced_calls: number;
      tokens_in: number;
      tokens_cached: number;
      tokens_out: number;
      cost_nanos: number;
    };
    usage_keys: {
      day: string;
      assistant_id: Uuid;
      user_id: string;
      key_id: string;
      model: string;
      calls: number;
      unpriced_calls: number;
      tokens_in: number;
      tokens_cached: number;
      tokens_out: number;
      cost_nanos: number;
    };
    usage_runs: {
      run_id: Uuid;
      calls: number;
      unpriced_calls: number;
      tokens_in: number;
      tokens_cached: number;
      tokens_out: number;
      cost_nanos: number;
    };
    usage_totals: {
      day: string;
      assistant_id: Uuid;
      model: string;
      calls: number;
      unpriced_calls: number;
      tokens_in: number;
      tokens_cached: number;
      tokens_out: number;
      cost_nanos: number;
    };
  }
}
