import type { ClaimedRun } from '../../storage/queue/claim.ts';
import type { BudgetCharge } from './storage/budgets.ts';
import type { UsageAccount } from './storage/charges.ts';

/** What an attempt has used since its last batch. */
export interface UsageCargo {
  readonly account: UsageAccount;
  /** `undefined` if nothing of it counts for a budget. */
  readonly budget: BudgetCharge | undefined;
}

/** Who is charged. The server sets the user: clients cannot. */
export function accountOf({
  run,
  key_id,
}: Pick<ClaimedRun, 'run'> & { key_id?: string | null | undefined }): UsageAccount {
  const user_id = run.kwargs.config.configurable['langgraph_auth_user_id'];
  return {
    assistant_id: run.assistant_id,
    user_id: typeof user_id === 'string' ? user_id : '',
    key_id: key_id ?? '',
  };
}
