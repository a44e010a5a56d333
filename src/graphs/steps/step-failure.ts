import { relative } from 'node:path';
import { codeAt } from '../../core/code-at.ts';
import { causesOf, publicFailure, stackFramesOf } from '../../core/failure.ts';
import { toJson } from '../../core/json.ts';
import { firstUserFrame, frameOf, isUserCode } from '../../core/stack-frames.ts';
import type { FailureCause, FailureFrame } from '../../schemas/step-contents.ts';

/** Frames of an error that are kept. */
const MAX_FRAMES = 30;

/** JSON of an error and its causes, each with its stack and the source where the project's code threw. Never throws. */
export function failureJson(thrown: unknown): string {
  return toJson(causesOf(thrown).map(causeOf));
}

function causeOf(thrown: unknown): FailureCause {
  const lines = stackFramesOf(thrown).split('\n').slice(0, MAX_FRAMES);
  const own = firstUserFrame(lines.join('\n'));
  return {
    ...publicFailure(thrown),
    frames: lines.flatMap((line) => frameIn(line) ?? []),
    code: (own && codeAt(own)?.join('\n')) ?? null,
  };
}

/** `path` is absolute: who reads it makes it relative to the project. */
function frameIn(text: string): FailureFrame | undefined {
  const frame = frameOf(text);
  if (!frame) return undefined;
  const { file, line, column, start } = frame;
  const call = text.endsWith(')') ? text.slice('    at '.length, start - ' ('.length) : '';
  return { call: call.slice(0, 256), path: file, line, column, is_own: isUserCode(frame) };
}

export interface FailureReader {
  /** Project folder, which paths are relative to. */
  readonly root: string;
  /** Sees the code of the project: a user of an application does not. */
  readonly sees_code: boolean;
  /** Is on this machine, and may open its files. */
  readonly is_local: boolean;
}

/**
 * The causes as a client may see them: paths relative to the project, and of files elsewhere no more than their packages'
 * names. `file`, for an editor, only if the client is on this machine. Without `sees_code` only the error, as on the run.
 */
export function visibleCauses(
  causes: readonly FailureCause[],
  { root, sees_code, is_local }: FailureReader,
): FailureCause[] {
  if (!sees_code) return causes.slice(0, 1).map((cause) => ({ ...cause, frames: [], code: null }));
  return causes.map((cause) => ({
    ...cause,
    frames: cause.frames.map(({ path: file, ...frame }) => {
      const inProject = relative(root, file);
      const isElsewhere = inProject.startsWith('..');
      return {
        ...frame,
        path: isElsewhere ? withoutFolders(file) : inProject,
        ...(is_local && !isElsewhere && { file }),
      };
    }),
  }));
}

function withoutFolders(file: string): string {
  const packages = file.lastIndexOf('/node_modules/');
  return packages < 0 ? `…/${file.split('/').at(-1)}` : file.slice(packages + 1);
}
