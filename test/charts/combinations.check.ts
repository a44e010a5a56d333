import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../examples/blocks.ts';
import { CHART, helm, named, rendered, type Values } from './rendered.ts';

/** Each value that docs/kubernetes.md mentions as a choice, and what there is to choose. */
const CHOICES: Readonly<Record<string, readonly (string | boolean)[]>> = {
  database: ['sqlite', 'postgres'],
  'autoscaling.enabled': [true, false],
  'autoscaling.kind': ['keda', 'hpa'],
  'migrations.enabled': [true, false],
  'podDisruptionBudget.enabled': [true, false],
  'ingress.enabled': [true, false],
  'ingress.tlsSecretName': ['', 'agents-tls'],
};

function combinations(choices: readonly (readonly [string, readonly (string | boolean)[]])[]): Values[] {
  const [first, ...others] = choices;
  if (first === undefined) return [{}];
  const [name, values] = first;
  return combinations(others).flatMap((rest) => values.map((value) => ({ [name]: value, ...rest })));
}

test('Helm accepts the chart', async () => {
  expect(await helm('lint', CHART, '--strict')).toContain('0 chart(s) failed');
});

test('every manifest matches the schema of its kind in every combination of the documented choices', async () => {
  const all = combinations(Object.entries(CHOICES));
  const page = readFileSync(join(ROOT, 'docs/kubernetes.md'), 'utf8');
  expect(Object.keys(CHOICES).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);

  for (const values of all) {
    const kinds = named(await rendered(values)).map((each) => each.split(' ')[0]);
    const isPostgres = values['database'] === 'postgres';
    expect(kinds.includes('StatefulSet'), JSON.stringify(values)).toBe(!isPostgres);
    expect(kinds.includes('Job')).toBe(isPostgres && values['migrations.enabled']);
    expect(kinds.includes('Ingress')).toBe(values['ingress.enabled']);
    expect(kinds.includes('PodDisruptionBudget')).toBe(isPostgres && values['podDisruptionBudget.enabled']);
    const scales = isPostgres && values['autoscaling.enabled'];
    expect(kinds.includes('ScaledObject')).toBe(scales && values['autoscaling.kind'] === 'keda');
    expect(kinds.includes('HorizontalPodAutoscaler')).toBe(scales && values['autoscaling.kind'] === 'hpa');
  }
});
