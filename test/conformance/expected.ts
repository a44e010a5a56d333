import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';

/** What is known of a suite. */
const Expected = z.strictObject({
  /** So that tests that are suddenly skipped are noticed. */
  least_passed: z.int(),
  /** Tests that do not pass, and why that is right. */
  failures: z.record(z.string(), z.string()),
});
type Expected = z.infer<typeof Expected>;

/** Of pytest-json-report. */
const Report = z.object({ tests: z.array(z.object({ nodeid: z.string(), outcome: z.string() })) });

const FINE = ['passed', 'skipped'];

export async function expectedOf(file: string, suite: string): Promise<Expected> {
  return z.record(z.string(), Expected).parse(parse(await readFile(file, 'utf8')))[suite] as Expected;
}

/** Test → how it ended. Throws when the suite came to no report. */
export async function outcomesIn(file: string): Promise<Map<string, string>> {
  const { tests } = Report.parse(JSON.parse(await readFile(file, 'utf8')));
  return new Map(tests.map(({ nodeid, outcome }) => [nodeid, outcome]));
}

/** What is not as it is known, a line each: failures that are new, and known ones that are none any more. */
export function surprisesIn(
  outcomes: ReadonlyMap<string, string>,
  { least_passed, failures }: Expected,
): string[] {
  const failed = [...outcomes].filter(([test, outcome]) => !FINE.includes(outcome) && !(test in failures));
  const stale = Object.keys(failures).filter((test) => FINE.includes(outcomes.get(test) ?? 'skipped'));
  const passed = [...outcomes.values()].filter((outcome) => outcome === 'passed').length;
  return [
    ...failed.map(([test, outcome]) => `${outcome}: ${test}`),
    ...stale.map((test) => `no longer fails: ${test}`),
    ...(passed < least_passed ? [`only ${passed} passed, not ${least_passed}`] : []),
  ];
}
