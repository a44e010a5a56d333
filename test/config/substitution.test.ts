import { expect, test } from 'vitest';
import { load, problemsOf } from '../support/config.ts';

const GRAPHS = 'graphs: { echo: "./echo.ts:graph" }\n';

test('a variable in a value is taken from the environment and gets the type of its key', async () => {
  const { config } = await load(
    `${GRAPHS}server: { port: "\${MY_PORT}", api_keys: ["\${KEY}-a", b] }\nstorage: { url: "postgres://\${USER_}@db/x" }`,
    { environment: { MY_PORT: '900', KEY: 'k', USER_: 'me' } },
  );

  expect(config.server).toMatchObject({ port: 900, api_keys: ['k-a', 'b'] });
  expect(config.storage.url).toBe('postgres://me@db/x');
});

test('a default stands in for a variable that is missing or empty', async () => {
  const yaml = `${GRAPHS}server: { port: "\${MY_PORT:-77}" }`;

  expect((await load(yaml)).config.server.port).toBe(77);
  expect((await load(yaml, { environment: { MY_PORT: '' } })).config.server.port).toBe(77);
  expect((await load(yaml, { environment: { MY_PORT: '78' } })).config.server.port).toBe(78);
});

test('a missing variable is named with the path of its key', async () => {
  expect(await problemsOf(`${GRAPHS}server: { api_keys: [a, "\${NO_KEY}"] }`)).toEqual([
    'agent.config.yaml: server.api_keys.1: the variable NO_KEY is not set',
  ]);
});

test('a doubled dollar sign escapes a variable, and templates with double braces are unchanged', async () => {
  const { config } = await load(`${GRAPHS}env: { A: "$\${X}", B: "\${{ env.X }}", C: "$5" }`);

  expect(config.env).toEqual({ A: `\${X}`, B: `\${{ env.X }}`, C: '$5' });
});

test('the text of a substituted variable is never parsed as configuration', async () => {
  const { config } = await load(`${GRAPHS}storage: { url: "sqlite:/\${NAME}" }`, {
    environment: { NAME: 'a"}\nserver: { port: 1 }', OTHER: 'no' },
  });

  expect(config.storage.url).toBe('sqlite:/a"}\nserver: { port: 1 }');
  expect(
    (await load(`${GRAPHS}env: { A: "\${X}" }`, { environment: { X: `\${OTHER}` } })).config.env['A'],
  ).toBe(`\${OTHER}`);
});

test('the .env file of the project feeds variables, and the real environment wins over it', async () => {
  const files = { '.env': 'KEY="from file"\nPORT=5\nPLAIN=x # comment\n' };
  const yaml = `${GRAPHS}env: .env\nserver: { api_keys: ["\${KEY}"] }`;

  const { config } = await load(yaml, { files, environment: { PORT: '6' } });

  expect(config.env).toEqual({ KEY: 'from file', PORT: '5', PLAIN: 'x' });
  expect(config.server).toMatchObject({ api_keys: ['from file'], port: 6 });
  expect((await load(yaml, { files })).config.server.port).toBe(5);
});

test('an empty environment variable does not override one of the .env file', async () => {
  const files = { '.env': 'DATABASE_URI=postgres://me@db/agents\nKEY=file\n' };
  const yaml = `${GRAPHS}env: .env\nserver: { api_keys: ["\${KEY}"] }`;

  const { config } = await load(yaml, { files, environment: { DATABASE_URI: '', KEY: '' } });

  expect(config.storage.url).toBe('postgres://me@db/agents');
  expect(config.server.api_keys).toEqual(['file']);
});

test('an env list may contain bare names, which the environment sets', async () => {
  expect((await load(`${GRAPHS}env: ["A=1=2", "B"]`)).config.env).toEqual({ A: '1=2' });
});

test('a missing .env file is a warning', async () => {
  const { config, warnings } = await load(`${GRAPHS}env: .env`);

  expect(config.env).toEqual({});
  expect(warnings).toEqual([`env: ${config.root}/.env cannot be read (ENOENT); continuing without it`]);
});
