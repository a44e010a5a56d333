import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BuildRequest } from '../../src/extensions/deployments/build/request.ts';
import { MB, PROJECT, type ProjectFiles, TestDeployment } from './builds.ts';
import { needs } from './needs.ts';

export interface FailingBuild {
  readonly name: string;
  readonly step: string;
  readonly code: string;
  readonly files?: ProjectFiles;
  readonly request?: Partial<BuildRequest> | ((deployment: TestDeployment) => Promise<Partial<BuildRequest>>);
}

const SLOW = 120_000;
const LIMITS = { seconds: 60, memory_bytes: 4096 * MB, disk_bytes: 1024 * MB, tasks: 2048 };
export const git = (url: string, ref = 'main') => ({ source: { kind: 'git' as const, url, ref } });
export const withLimits = (limits: Partial<typeof LIMITS>) => ({ limits: { ...LIMITS, ...limits } });

/** Each fails its step with its code, one sentence and a hint, and leaves nothing behind. */
export function describeFailures(cases: readonly FailingBuild[]): void {
  describe.each(cases)('$name', ({ step, code, files = PROJECT, request = {} }) => {
    test(`fails the step ${step} with ${code}, one sentence and a hint`, { timeout: SLOW }, async () => {
      await using deployment = await TestDeployment.create();
      const path = await deployment.write('app', files);
      const overrides = typeof request === 'function' ? await request(deployment) : request;
      if (overrides.source?.kind === 'git') needs('git');
      const failure = await deployment.failure({ source: { kind: 'folder', path }, ...overrides });

      expect([failure.step, failure.code, failure.message]).toEqual([
        step,
        code,
        expect.stringMatching(/^\S.*\.$/s),
      ]);
      expect(failure.hint).toMatch(/^[A-Z].*\.$/);
      expect(`${failure.message} ${failure.hint}`).not.toMatch(/undefined|\[object|\n/);
      const errors = deployment.lines.filter(({ level }) => level === 'ERROR');
      expect(errors).toEqual([{ step, level: 'ERROR', message: `${failure.message} ${failure.hint}` }]);
      const open = deployment.steps.filter(({ name, status }) => name === step && status === 'running');
      const ended = deployment.steps.filter(({ name, status }) => name === step && status === 'error');
      expect(ended.length).toBe(open.length);
      // Nothing of it stays but the folder.
      expect(await readdir(join(deployment.folder, 'revisions/1')).catch(() => [])).toEqual([]);
    });
  });
}
