import { z } from 'zod';
import { MAX_SCALAR_LENGTH, Name } from './bounds.ts';

/** Ids in the documentation's examples; later examples use the thread that the first one creates. */
export const EXAMPLES = {
  graph: 'echo',
  assistant_id: '5f0c2b1e-8d3a-4c56-9e7f-1a2b3c4d5e6f',
  thread_id: '7d9f2c1e-4b6a-4f0e-9c3d-2a8b5e6f1d00',
} as const;

function id(noun: string) {
  return z.guid({ error: `Invalid ${noun} ID: must be a UUID` }).toLowerCase();
}

/** An assistant's id, or the name of a graph for its system assistant (contract §17 "graph id as path id"). */
export const AssistantPath = z.object({
  assistant_id: Name.meta({
    description: 'The id of the assistant, or the name of a graph for its default assistant.',
    examples: [EXAMPLES.graph],
  }),
});

/** The same; the documentation's example is a client-created assistant. */
export const AssistantIdPath = z.object({
  assistant_id: Name.meta({
    description: 'The id of the assistant, or the name of a graph for its default assistant.',
    examples: [EXAMPLES.assistant_id],
  }),
});

export const SubgraphPath = AssistantPath.extend({
  namespace: Name.meta({ description: 'The namespace of the subgraph.', examples: ['child'] }),
});

export const ThreadPath = z.object({
  thread_id: id('thread').meta({ description: 'The id of the thread.', examples: [EXAMPLES.thread_id] }),
});

export const CheckpointPath = ThreadPath.extend({
  checkpoint_id: Name.meta({ description: 'The id of the checkpoint.' }),
});

const run_id = id('run').meta({ description: 'The id of the run.' });

export const RunPath = ThreadPath.extend({ run_id });

export const CronPath = z.object({
  cron_id: id('cron').meta({ description: 'The id of the cron.' }),
});

export const DeliveryPath = z.object({
  delivery_id: id('delivery').meta({ description: 'The id of the delivery.' }),
});

export const KeyPath = z.object({
  key_id: id('key').meta({ description: 'The id of the key.' }),
});

export const DeploymentPath = z.object({
  deployment_id: id('deployment').meta({ description: 'The id of the deployment.' }),
});

export const RevisionPath = DeploymentPath.extend({
  revision_id: id('revision').meta({ description: 'The id of the revision.' }),
});

/** A deployment, under the name that the log routes use. */
export const ProjectPath = z.object({
  project_id: id('project').meta({ description: 'The id of the deployment.' }),
});

export const ProjectRevisionPath = ProjectPath.extend({ revision_id: RevisionPath.shape.revision_id });

/** A run, without its thread id. */
export const StatelessRunPath = z.object({ run_id });

const step_id = z
  .string()
  .max(MAX_SCALAR_LENGTH)
  .regex(/^\d{1,9}\.\d{1,9}$/, { error: 'Invalid step ID: must be <attempt>.<number>' })
  .meta({ description: 'Attempt and number of the step, such as `1.4`.', examples: ['1.1'] });

export const StepPath = RunPath.extend({ step_id });

/** A step of a run, without its thread id. */
export const StatelessStepPath = StatelessRunPath.extend({ step_id });

/** Headers of creating routes: a retry with the same key creates the resource once. */
export const IdempotencyHeaders = z.looseObject({
  'idempotency-key': z.string().min(1).max(255).optional().meta({
    description:
      'Any text. For 24 hours, the same request with the same key returns the same response and creates nothing.',
  }),
});
