import { Script } from 'node:vm';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/logger.ts';
import { bundleUi } from '../../src/graphs/ui/bundle.ts';
import { uiBundles } from '../../src/graphs/ui/bundle-cache.ts';
import { project } from '../support/project.ts';

const CARD = 'export default { card: () => <p /> };\n';

async function programOf(files: Record<string, string>, shared: string[] = []): Promise<string> {
  await using folder = await project(files);
  const { assets } = await bundleUi({ name: 'my agent', path: './ui.tsx', root: folder.root, shared });
  return Buffer.from(assets[0]?.content as Uint8Array).toString();
}

/** Of the one graph of a project. */
const bundlesOf = (root: string) =>
  uiBundles({
    paths: { agent: './ui.tsx' },
    root,
    shared: [],
    clock: systemClock,
    logger: silentLogger,
    bundleUi,
  });

/** What a page puts into `LGUI_EXT_STORE` when it loads the program and calls `render`. */
function rendered(program: string, name: string, modules: Record<string, unknown>) {
  const told: unknown[] = [];
  const asked: string[] = [];
  const page = {
    document: {
      createElement: (tag: string) => ({ tag }),
      getElementById: (id: string) => ({ shadowRoot: { appendChild: () => told.push(id) } }),
    },
    [Symbol.for('LGUI_REQUIRE')]: (module: string) => {
      asked.push(module);
      return modules[module] ?? { jsx: (...args: unknown[]) => args };
    },
    [Symbol.for('LGUI_EXT_STORE')]: { respond: (...args: unknown[]) => told.push(...args) },
  };
  Object.assign(page, { window: page });
  new Script(`${program}; __LGUI_my_agent.render(${JSON.stringify(name)}, 'root-1');`).runInNewContext(page);
  return { told, asked };
}

test('a program renders the component under the element it is given', async () => {
  const { told } = rendered(await programOf({ 'ui.tsx': CARD }), 'card', {});

  expect(told).toEqual(['root-1', 'root-1', expect.any(Function), { tag: 'div' }]);
});

test('React, the SDK and what the configuration names come from the page, other modules are part of it', async () => {
  const program = await programOf(
    {
      'ui.tsx': `import { useState } from 'react';
        import { createPortal } from 'react-dom';
        import { useStreamContext } from '@langchain/langgraph-sdk/react-ui';
        import { chart } from '@acme/charts/line';
        import { own } from './own.ts';
        export default { card: () => <p>{useState(createPortal, useStreamContext, chart, own)}</p> };`,
      'own.ts': "export const own: string = 'a module of mine';",
    },
    ['@acme/charts'],
  );

  expect(rendered(program, 'card', {}).asked.sort()).toEqual([
    '@acme/charts/line',
    '@langchain/langgraph-sdk/react-ui',
    'react',
    'react-dom',
    'react/jsx-runtime',
  ]);
  expect(program).toContain('a module of mine');
});

test('a missing component is an error that names the existing ones', async () => {
  const program = await programOf({ 'ui.tsx': CARD });

  expect(() => rendered(program, 'chart', {})).toThrow('There is no component "chart", only: card');
});

test.each([
  ['there is no file ./ui.tsx', { 'other.tsx': CARD }],
  ['ui.tsx:1:28: Expected ">" but found end of file', { 'ui.tsx': 'export default { a: () => <p' }],
  ['No matching export in "ui.tsx" for import "default"', { 'ui.tsx': 'export const card = 1;' }],
  [
    'ui.css:1:0: Could not resolve "./gone.css"',
    { 'ui.tsx': `import './ui.css';\n${CARD}`, 'ui.css': '@import "tailwindcss";\n@import "./gone.css";' },
  ],
  ['ui.tsx:1:7: Could not resolve "not-installed"', { 'ui.tsx': `import 'not-installed';\n${CARD}` }],
])('a UI that does not build reports the reason: %s', async (reason, files) => {
  await expect(programOf(files)).rejects.toThrow(`UI 'my agent' does not build: ${reason}`);
});

test('style sheets for Tailwind CSS hold what the program uses, by the copy of the project', async () => {
  await using folder = await project({
    'ui.tsx':
      "import './ui.css';\nexport default { card: () => <p className='p-[17px] hover:text-brand card' /> };",
    'ui.css':
      '@import "tailwindcss";\n@import "./more.css";\n@theme { --color-brand: #123456 }\n.card { @apply rounded-lg }',
    'more.css': '.more { color: red }',
  });
  const { assets, inputs } = await bundleUi({ name: 'a', path: './ui.tsx', root: folder.root, shared: [] });

  const css = Buffer.from(assets.find(({ file }) => file.endsWith('.css'))?.content ?? []).toString();
  for (const rule of [
    'padding:17px',
    'hover\\:text-brand:hover{',
    '.card{border-radius:',
    '.more{color:red}',
  ]) {
    expect(css).toContain(rule);
  }
  expect(css).not.toContain('margin:17px');
  expect(inputs.map(({ file }) => file).sort()).toEqual(
    ['more.css', 'ui.css', 'ui.tsx'].map((name) => folder.path(name)),
  );
});

test('concurrent requests share one build, and a failed build is retried', async () => {
  await using folder = await project({ 'ui.tsx': 'export default {' });
  const bundles = bundlesOf(folder.root);
  await expect(bundles.get('agent')).rejects.toThrow('does not build');

  await folder.write({ 'ui.tsx': CARD });
  const [one, other] = await Promise.all([bundles.get('agent'), bundles.get('agent')]);
  expect(one).toBeDefined();
  expect(one).toBe(other);
  expect(await bundles.get('agent')).toEqual(one);
  expect(await bundles.get('toString')).toBeUndefined();
});

test('a change of any file of the project triggers a new build', async () => {
  await using folder = await project({
    'ui.tsx': "import { text } from './lib/text.ts';\nexport default { card: () => <p>{text}</p> };",
    'lib/text.ts': "export const text = 'before';",
  });
  const bundles = bundlesOf(folder.root);
  const text = async () => Buffer.from((await bundles.get('agent'))?.assets[0]?.content ?? []).toString();
  expect(await text()).toContain('before');

  await folder.write({ 'lib/text.ts': "export const text = 'after!';" });
  expect(await text()).toContain('after!');
});
