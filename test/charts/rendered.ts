import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { ScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { Job } from 'kubernetes-models/batch/v1';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Service } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';
import { needs } from '../support/needs.ts';

export const CHART = resolve(import.meta.dirname, '../../charts/agent-server');
const run = promisify(execFile);

/** Values by path, such as `autoscaling.enabled`. */
export type Values = Readonly<Record<string, string | number | boolean>>;

const MODELS = {
  Deployment,
  StatefulSet,
  HorizontalPodAutoscaler,
  Job,
  Ingress,
  PodDisruptionBudget,
  Service,
  ScaledObject,
};

/** The parts of a manifest that tests read. */
export interface Manifest {
  readonly kind: keyof typeof MODELS;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  // biome-ignore lint/suspicious/noExplicitAny: nine kinds of manifest, each checked against its own schema.
  readonly spec: any;
}

export async function helm(...args: string[]): Promise<string> {
  needs('helm');
  return (await run('helm', args)).stdout;
}

/** What Helm makes of the chart. Throws unless each manifest matches the schema of its kind. */
export async function rendered(values: Values): Promise<Manifest[]> {
  const set = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return await renderedWith(set.flatMap((each) => ['--set', each]));
}

/** The same with flags of Helm, such as `--values`. */
export async function renderedWith(flags: readonly string[], release = 'agents'): Promise<Manifest[]> {
  return manifestsIn(await helm('template', release, CHART, '--kube-version', '1.30.0', ...flags));
}

/** The manifests in a file. Throws unless each matches the schema of its kind. */
export function manifestsIn(yaml: string): Manifest[] {
  const manifests = parseAllDocuments(yaml).flatMap((each) => (each.toJS() as Manifest | null) ?? []);
  for (const manifest of manifests) new MODELS[manifest.kind](manifest as never).validate();
  return manifests;
}

/** `Deployment agents-agent-server-api`. */
export function named(manifests: readonly Manifest[]): string[] {
  return manifests
    .map(({ kind, metadata }) => `${kind} ${metadata.name.replace('agents-agent-server', '*')}`)
    .sort();
}

export function manifestOf(manifests: readonly Manifest[], kind: Manifest['kind'], suffix = ''): Manifest {
  const found = manifests.find((each) => each.kind === kind && each.metadata.name.endsWith(suffix));
  if (found === undefined) throw new Error(`There is no ${kind} ${suffix}.`);
  return found;
}
