import inspector from 'node:inspector';

const FLAG = /^--inspect(?:-brk|-wait)?(?==|$)/;

/**
 * With `--inspect` the graphs are to be debugged: frees the address of the debugger for the first host. Returns whether there
 * is one.
 */
export function handOverDebugger(): boolean {
  const isDebugged = process.execArgv.some((each) => FLAG.test(each));
  if (isDebugged) inspector.close();
  return isDebugged;
}

/** Node's options for a host: it does not wait for a debugger, because it would count as frozen meanwhile. */
export function debuggedAsHost(flags: readonly string[]): string[] {
  return flags.map((each) => each.replace(FLAG, '--inspect'));
}
