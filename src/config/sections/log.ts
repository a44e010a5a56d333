import { flag, group, word } from '../values.ts';

export const Log = group({
  level: word(['debug', 'info', 'warn', 'error', 'silent'], pythonLevel)
    .default('info')
    .describe('Lowest level that is logged.'),
  json: flag()
    .optional()
    .describe('JSON lines or readable ones. Unset: readable in `dev` and on a terminal, else JSON.'),
  color: flag().optional().describe('Colour in readable lines. Unset: when the output is a terminal.'),
});

/** LOG_LEVEL has the levels of Python's logging. */
function pythonLevel(level: string): string {
  const names: Record<string, string> = {
    warning: 'warn',
    critical: 'error',
    fatal: 'error',
    trace: 'debug',
  };
  return names[level] ?? level;
}
