import { applyEnvironment } from '../../config/env.ts';
import { VERSION } from '../../config/version.ts';
import { errorStack } from '../../core/failure.ts';
import { projectWarnings } from '../../graphs/project/project-warnings.ts';
import { langgraphVersion } from '../../graphs/project/user-module.ts';
import { CONFIG_FLAG, type Command, columns } from '../command.ts';
import { loadConfigFor } from '../config.ts';
import { type CheckResult, checkProject } from '../project-checks.ts';

export const check: Command = {
  name: 'check',
  summary: 'Loads the configuration and everything it names, and reports each graph and file by name',
  flags: {
    ...CONFIG_FLAG,
    json: { text: 'prints one JSON object, with the versions in use' },
    'no-factories': { text: 'does not call functions that create a graph, which a run calls' },
  },
  async run(values) {
    const { config, warnings: ofConfig } = await loadConfigFor(values);
    const warnings: string[] = [];
    const warn = (warning: string) => {
      warnings.push(warning);
      process.stderr.write(`agent-server: ${warning}\n`);
    };
    for (const warning of [...ofConfig, ...(await projectWarnings(config))]) warn(warning);
    applyEnvironment(config);
    using _exit = failingExit();
    using _unhandled = warningOfUnhandledErrors(warn);
    const checked = await checkProject(config, { callFactories: values['no-factories'] === undefined });
    const code = isFine(checked) ? 0 : 1;
    if (values['json']) {
      process.stdout.write(`${JSON.stringify(await report(config.root, checked, warnings), null, 2)}\n`);
      return code;
    }
    const rows = checked.flatMap(({ name, file, error, note }) => [
      error ? [`failed  ${name}`, error.message] : [`ok      ${name}`, file],
      ...(note === undefined ? [] : [[`note    ${name}`, note]]),
    ]);
    process.stdout.write(`${columns(rows).join('\n')}\n`);
    return code;
  },
};

/** Until disposed: code of the project that ends the process fails the check, whatever code it exits with. */
function failingExit(): Disposable {
  const onExit = () => {
    process.stderr.write(
      'agent-server: check: the code of the project ended the process while it was loaded\n',
    );
    process.exitCode = 1;
  };
  process.once('exit', onExit);
  return { [Symbol.dispose]: () => void process.off('exit', onExit) };
}

/** Until disposed: an error of the project that nothing awaits does not end the process, as in the server. */
function warningOfUnhandledErrors(warn: (warning: string) => void): Disposable {
  const warnOf = (what: string) => (error: unknown) =>
    warn(`${what} while the code of the project was loaded: ${errorStack(error)}`);
  const onThrown = warnOf('uncaught exception');
  const onRejected = warnOf('unhandled rejection');
  process.on('uncaughtException', onThrown).on('unhandledRejection', onRejected);
  return {
    [Symbol.dispose]: () =>
      void process.off('uncaughtException', onThrown).off('unhandledRejection', onRejected),
  };
}

const isFine = (checked: readonly CheckResult[]) => checked.every(({ error }) => error === undefined);

async function report(root: string, checked: readonly CheckResult[], warnings: readonly string[]) {
  return {
    ok: isFine(checked),
    agent_server: VERSION,
    node: process.versions.node,
    langgraph: await langgraphVersion(root),
    warnings,
    checks: checked.map(({ name, file, error, note }) => ({
      name,
      file,
      ok: error === undefined,
      ...(error && { error: error.message }),
      ...(note !== undefined && { note }),
    })),
  };
}
