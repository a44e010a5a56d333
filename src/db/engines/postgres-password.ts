import { execFile } from 'node:child_process';
import { type Clock, systemClock } from '../../core/clock.ts';

/** Passwords for new connections. */
export interface PasswordSource {
  get(): Promise<string>;
  /** The server refused the password: the next one is made anew. */
  forget(): void;
}

/** Tokens of AWS last 15 minutes, those of Azure and Google an hour; only a new connection needs one. */
const MAX_AGE_MS = 5 * 60_000;
const TIMEOUT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024;

/** The password command failed. The message has neither its arguments nor its output. */
class PasswordCommandFailed extends Error {
  readonly code = 'PASSWORD_COMMAND';
}

/**
 * Passwords from the output of a command, cached for five minutes or until one is refused. Connections that are opened
 * at the same time share a call.
 */
export function passwordFrom(
  command: string,
  { clock = systemClock, timeout_ms = TIMEOUT_MS }: { clock?: Clock; timeout_ms?: number } = {},
): PasswordSource {
  let cached: { readonly password: Promise<string>; readonly at: number } | undefined;
  return {
    get() {
      const now = clock.monotonic();
      if (cached && now - cached.at < MAX_AGE_MS) return cached.password;
      const made = { password: run(command, timeout_ms), at: now };
      cached = made;
      made.password.catch(() => {
        if (cached === made) cached = undefined;
      });
      return made.password;
    },
    forget() {
      cached = undefined;
    },
  };
}

function run(command: string, timeout: number): Promise<string> {
  const [program = '', ...args] = wordsOf(command);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const fail = (what: string) => reject(new PasswordCommandFailed(`the password command ${program} ${what}`));
  const limits = { timeout, killSignal: 'SIGKILL', maxBuffer: MAX_OUTPUT_BYTES } as const;
  execFile(program, args, { ...limits, windowsHide: true }, (error, stdout) => {
    if (error) return fail(error.killed ? `took longer than ${timeout / 1000} s` : reasonOf(error));
    const password = stdout.replace(/\r?\n$/, '');
    if (password === '') return fail('printed no password');
    resolve(password);
  });
  return promise;
}

/** Never the message: it contains the arguments and what the command wrote. */
function reasonOf(error: { code?: unknown; signal?: unknown }): string {
  if (error.code === 'ENOENT') return 'was not found';
  if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'printed more than 64 KiB';
  if (typeof error.code === 'number') return `ended with exit code ${error.code}`;
  return `could not be run (${error.signal ?? error.code})`;
}

/**
 * Splits a command into words as a shell does: at spaces, with quotes and backslashes. No variable is expanded; for
 * that, the command is `sh -c '…'`.
 */
export function wordsOf(command: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < command.length; at++) {
    const character = command[at] as string;
    if (quote === '' && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === quote) {
      quote = '';
    } else if (quote === '' && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else if (character === '\\' && quote !== "'") {
      word = (word ?? '') + (command[++at] ?? '');
    } else {
      word = (word ?? '') + character;
    }
  }
  return word === undefined ? words : [...words, word];
}
