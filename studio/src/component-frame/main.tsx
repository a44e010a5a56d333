import './frame.css';
import { type ComponentType, createElement, Suspense, useEffect } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { connect, report } from './channel.ts';
import { provideModules } from './modules.ts';
import type { Shown, StreamState } from './protocol.ts';
import { contextOf, Stream } from './stream.ts';

/** Id of the element below which bundles render. */
const HOST = 'component';

interface Component {
  readonly root: Root;
  readonly type: ComponentType;
}

let component: Component | undefined;
let shown: Shown | undefined;
let stream: StreamState | undefined;

const host = document.getElementById(HOST) as HTMLElement;

connect((message) => {
  if (message.type === 'stream') {
    stream = message.stream;
    return draw();
  }
  const isFirst = shown === undefined;
  shown = message.shown;
  document.documentElement.dataset['theme'] = shown.theme;
  if (isFirst) load(shown);
  else draw();
});

function fail(error: unknown): void {
  report({ type: 'failed', reason: error instanceof Error ? error.message : String(error) });
}

provideModules(fail);
// Where bundles hand over their component (contract §2.9).
Reflect.set(window, Symbol.for('LGUI_EXT_STORE'), {
  respond(_id: string, type: ComponentType, element: HTMLElement) {
    component = { type, root: createRoot(element, { onUncaughtError: fail }) };
    draw();
  },
});
new ResizeObserver(() => report({ type: 'height', px: host.getBoundingClientRect().height })).observe(host);

/** Loads the files of a bundle, style sheets first, and renders it. */
function load({ files, global, name }: Shown): void {
  const shadow = host.attachShadow({ mode: 'open' });
  for (const file of files) {
    const isStyle = file.endsWith('.css');
    const element = isStyle
      ? Object.assign(document.createElement('link'), { rel: 'stylesheet', href: file })
      : Object.assign(document.createElement('script'), { src: file });
    element.addEventListener('error', () => fail(`${file} could not be loaded.`));
    if (!isStyle) element.addEventListener('load', () => render(global, name));
    shadow.append(element);
  }
}

function render(global: string, name: string): void {
  try {
    const bundle = Reflect.get(window, global) as { render(name: string, id: string): void } | undefined;
    if (bundle === undefined) throw new Error('Its script failed to run.');
    bundle.render(name, HOST);
  } catch (error) {
    fail(error);
  }
}

function draw(): void {
  if (component === undefined || shown === undefined) return;
  component.root.render(
    <Stream value={contextOf(stream, shown.meta)}>
      <Suspense>
        {createElement(component.type, shown.props)}
        <Drawn version={shown.version} />
      </Suspense>
    </Stream>,
  );
}

/** A sibling of the component, so that it is never drawn earlier. */
function Drawn({ version }: { version: number }) {
  useEffect(() => report({ type: 'drawn', version }), [version]);
  return null;
}
