import { expect, test } from 'vitest';
import { openApp } from '../../support/app.ts';
import { naming } from '../../support/naming.ts';
import { project } from '../../support/project.ts';

const GRAPH = 'export const graph = { stream() {}, getState() {} };\n';
const CARD = 'export default { card: () => <p className="card">First</p> };\n';

/** A server with keys answers under every name. */
const KEYS = { AGENT_SERVER_API_KEYS: 'a-key' };
const KEY = { 'x-api-key': 'a-key' };

/** A server of a project with a UI. */
async function served(files: Record<string, string> = {}, more = '', environment = {}) {
  const folder = await project({
    'agent.config.yaml': `graphs: { agent: "./agent.mjs:graph" }\nui: { agent: ./ui/card.tsx }\n${more}`,
    'agent.mjs': GRAPH,
    'ui/card.tsx': CARD,
    ...files,
  });
  const app = await openApp({ graphs: ['agent'], folder: folder.root, environment });
  return {
    app,
    folder,
    load: (id: string, name = 'card', headers = {}) => app.post(`/ui/${id}`, { name }, headers),
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

test('a UI component is HTML that loads a script and renders into the element of the page', async () => {
  await using http = await served();
  const { status, headers, text } = await http.load('agent', 'card', { host: 'localhost:8123' });

  expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(text).toBe(
    `<script src="http://localhost:8123/ui/agent/entrypoint.js" onload='__LGUI_agent.render("card", "{{shadowRootId}}")'></script>`,
  );
  const script = await http.app.get('/ui/agent/entrypoint.js');
  expect([script.status, script.headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
  expect(script.text).toContain('var __LGUI_agent=');
  expect(script.text).toContain('globalThis[Symbol.for("LGUI_REQUIRE")]("react/jsx-runtime")');
});

test('an assistant has the UI of its graph, also by its id', async () => {
  await using http = await served();
  const { body } = await http.app.post('/assistants', { graph_id: 'agent' });

  expect((await http.load(body.assistant_id)).text).toContain('/ui/agent/entrypoint.js');
  expect((await http.load('5f0c2b1e-8d3a-4c56-9e7f-1a2b3c4d5e6f')).status).toBe(404);
});

test('script URLs of a UI keep the scheme of the page and include the mount prefix', async () => {
  await using http = await served({}, 'http: { mount_prefix: /agents }', KEYS);
  const headers = { ...KEY, host: 'agents.example.com' };

  const { text } = await http.app.post('/agents/ui/agent', { name: 'card' }, headers);
  expect(text).toContain('src="//agents.example.com/agents/ui/agent/entrypoint.js"');
  expect((await http.app.get('/agents/ui/agent/entrypoint.js')).status).toBe(200);
});

test('style sheets of a UI come before the script and contain their images', async () => {
  await using http = await served({
    'ui/card.tsx': "import './card.css';\nexport default { card: () => <p className='card' /> };\n",
    'ui/card.css': '.card { background: url(dot.svg) }',
    'ui/dot.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  });

  const { text } = await http.load('agent');
  expect(text).toMatch(/^<link rel="stylesheet" href="[^"]+\/ui\/agent\/entrypoint.css" \/>\n<script /);
  const css = await http.app.get('/ui/agent/entrypoint.css');
  expect(css.headers['content-type']).toBe('text/css; charset=utf-8');
  expect(css.text).toContain('data:image/svg+xml');
});

test('files of a UI are cached by content, and a change is served at once', async () => {
  await using http = await served();
  const first = await http.app.get('/ui/agent/entrypoint.js');
  const etag = String(first.headers['etag']);
  expect(first.headers['cache-control']).toBe('no-cache');
  expect((await http.app.get('/ui/agent/entrypoint.js', { 'if-none-match': etag })).status).toBe(304);

  await http.folder.write({ 'ui/card.tsx': CARD.replace('First', 'Second') });
  const second = await http.app.get('/ui/agent/entrypoint.js', { 'if-none-match': etag });
  expect([second.status, second.text]).toEqual([200, expect.stringContaining('Second')]);
});

test('files of a UI need no key, but requesting a component does', async () => {
  await using http = await served({}, '', KEYS);

  expect((await http.load('agent')).status).toBe(401);
  expect((await http.load('agent', 'card', KEY)).status).toBe(200);
  const script = await http.app.get('/ui/agent/entrypoint.js', { origin: 'https://chat.example.com' });
  expect(script.status).toBe(200);
  expect(script.headers['cross-origin-resource-policy']).toBe('cross-origin');
});

test('frames without an origin get the files of a UI, and nothing else but those of Studio', async () => {
  await using http = await served();
  const status = async (path: string) => (await http.app.get(path, { origin: 'null' })).status;
  expect(await status('/ui/agent/entrypoint.js')).toBe(200);
  expect(await status('/studio/assets/none.js')).toBe(404);
  expect(await status('/studio/component-frame.html')).toBe(403);
  expect(await status('/info')).toBe(403);
});

test('only the files of a UI bundle are served', async () => {
  await using http = await served();
  const addresses = [
    '/ui/agent/card.tsx',
    '/ui/agent/..%2fagent.mjs',
    '/ui/agent/..%2f..%2f..%2fetc%2fpasswd',
    '/ui/..%2fagent/entrypoint.js',
    '/ui/constructor/entrypoint.js',
    '/ui/agent/',
    '/ui/agent/ui/card.tsx',
  ];

  const statuses = await Promise.all(addresses.map(async (address) => (await http.app.get(address)).status));
  expect(statuses).toEqual(addresses.map(() => 404));
});

test('the requested name of a UI component cannot break out of the HTML', async () => {
  await using http = await served({}, '', KEYS);
  const name = `x');alert(1)//'"</script>`;
  const { text } = await http.load('agent', name, { ...KEY, host: `a"onerror='alert(1)'` });

  expect(text).toBe(
    `<script src="//a&quot;onerror=&#39;alert(1)&#39;/ui/agent/entrypoint.js" ` +
      `onload='__LGUI_agent.render("x&#39;);alert(1)//&#39;\\"&lt;/script>", "{{shadowRootId}}")'></script>`,
  );
});

test('errors of UI requests name the way out', async () => {
  await using http = await served({ 'ui/card.tsx': "import x from './gone.ts';\nexport default { x };\n" });

  expect(await http.load('none')).toMatchObject({
    status: 404,
    body: { detail: "UI 'none' not found. Configured: 'agent'" },
  });
  expect(await http.load('agent')).toMatchObject({
    status: 422,
    body: { detail: `UI 'agent' does not build: ui/card.tsx:1:14: Could not resolve "./gone.ts"` },
  });
  expect(await http.app.post('/ui/agent', {})).toMatchObject({
    status: 422,
    body: { detail: 'name is required' },
  });

  await http.folder.write({ 'ui/gone.ts': 'export default () => null;' });
  expect((await http.load('agent')).status).toBe(200);
});

test('UI routes are 404 without a UI, or if disabled', async () => {
  const environment = { LANGGRAPH_UI: '{"weather": "./weather-ui.tsx"}' };
  await using none = await openApp({ graphs: ['sleeper'], environment });
  expect((await none.post('/ui/sleeper', { name: 'x' })).body).toEqual({
    detail: naming('sleeper', 'weather'),
  });

  await using off = await served({}, 'http: { disable_ui: true }');
  expect((await off.load('agent')).body).toEqual({ detail: 'Not Found' });
  expect((await off.app.get('/ui/agent/entrypoint.js')).status).toBe(404);
});
