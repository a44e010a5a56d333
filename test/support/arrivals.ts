/** Requests that began by a schedule, whatever became of those before them. */
export interface Arrivals {
  /** How many have begun so far. */
  readonly begun: number;
  /** Ends the schedule, and resolves to the answers of all that have begun. */
  end(): Promise<Map<string, number>>;
}

/**
 * An open loop: request number `n` begins `n / per_second` seconds after the start, and if the timers of this process are late,
 * so do all that are due. `send` resolves to what is counted, such as the status; a rejection counts as its message.
 */
export function arrivals(per_second: number, send: (n: number) => Promise<string>): Arrivals {
  const started = performance.now();
  const answers = new Map<string, number>();
  const requests: Promise<void>[] = [];
  const request = async (n: number) => {
    const answer = await send(n).catch(reasonOf);
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  };
  const beginAllDue = () => {
    const due = Math.floor(((performance.now() - started) / 1000) * per_second) + 1;
    while (requests.length < due) requests.push(request(requests.length));
  };
  beginAllDue();
  const timer = setInterval(beginAllDue, 1000 / per_second);
  return {
    get begun() {
      return requests.length;
    },
    async end() {
      beginAllDue();
      clearInterval(timer);
      await Promise.all(requests);
      return answers;
    },
  };
}

/** `fetch` says "fetch failed", and why in its cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
