import { join } from 'node:path';
import { type Kit, kitFolder, pythonOfKits } from './a2a-kits.ts';
import { expectedOf, outcomesIn, surprisesIn } from './expected.ts';
import { type Suite, succeeds } from './suite.ts';

const KNOWN = join(import.meta.dirname, 'a2a-expected-failures.yaml');

/** 1.0 asks for the card without saying its version; 0.3 asks for it at the root of the host alone. */
const FIXTURES: Readonly<Record<Kit, { graph: string; a2a: object }>> = {
  '1.0': { graph: 'tck', a2a: { card_default: '1.0' } },
  '0.3': { graph: 'tck03', a2a: { default_assistant: 'tck03' } },
};

/** The project's compatibility kits for both versions of the protocol, as their own runners start them. */
export const A2A_SUITES: readonly Suite[] = [
  suite('a2a-1.0', '1.0', (agent) => [
    'tests/compatibility',
    `--sut-host=${agent}`,
    '--transport=jsonrpc,http_json',
  ]),
  suite('a2a-0.3-mandatory', '0.3', (agent) => [
    'tests/mandatory',
    ...['-m', 'mandatory_jsonrpc or mandatory_protocol'],
    ...optionsOf03(agent),
  ]),
  suite('a2a-0.3-capabilities', '0.3', (agent) => ['tests/optional/capabilities', ...optionsOf03(agent)]),
];

function optionsOf03(agent: string): string[] {
  return [
    `--sut-url=${agent}`,
    '--test-scope=all',
    ...['--transport-strategy', 'agent_preferred', '--transports', 'jsonrpc'],
    '--enable-equivalence-testing',
  ];
}

function suite(name: string, kit: Kit, argsOf: (agent: string) => readonly string[]): Suite {
  const { graph, a2a } = FIXTURES[kit];
  return {
    name,
    env: {
      LANGGRAPH_HTTP: JSON.stringify({ a2a }),
      // The kits hear notifications on this machine.
      LANGGRAPH_WEBHOOKS: '{"url": {"disable_loopback": false}}',
    },
    async passes(url, output) {
      const agent = `${url}/a2a/${graph}`;
      // The first card waits until the fixtures' types are read, for longer than the kits do.
      await fetch(`${agent}/.well-known/agent-card.json`);
      const report = join(output, 'report.json');
      const reported = ['-q', '--tb=short', '--json-report', `--json-report-file=${report}`];
      // Its exit code says less than its report, as there are tests that nobody can pass.
      await succeeds([await pythonOfKits(), '-m', 'pytest', ...argsOf(agent), ...reported], {
        cwd: await kitFolder(kit),
        env: { TCK_STREAMING_TIMEOUT: '2.0' },
      });
      const outcomes = await outcomesIn(report);
      const counts = Map.groupBy(outcomes.values(), (outcome) => outcome);
      console.log(`${name}: ${[...counts].map(([each, { length }]) => `${length} ${each}`).join(', ')}`);
      const surprises = surprisesIn(outcomes, await expectedOf(KNOWN, name));
      for (const surprise of surprises) console.log(surprise);
      return surprises.length === 0;
    },
  };
}
