import * as React from 'react';
import * as JsxRuntime from 'react/jsx-runtime';
import * as ReactDOM from 'react-dom';
import { useStreamContext } from './stream.ts';

/** Modules that the page provides and bundles leave out (contract §2.9). */
const MODULES: Readonly<Record<string, unknown>> = {
  react: React,
  'react-dom': ReactDOM,
  'react/jsx-runtime': JsxRuntime,
  '@langchain/langgraph-sdk/react': { useStream: notHere('useStream') },
  '@langchain/langgraph-sdk/react-ui': {
    useStreamContext,
    LoadExternalComponent: notHere('LoadExternalComponent'),
  },
};

function notHere(name: string) {
  return () => {
    throw new Error(`${name} is not available inside a component.`);
  };
}

/**
 * Provides modules to bundles. `onMissing` receives the reason if one cannot run: the page cannot see the script's own
 * error.
 */
export function provideModules(onMissing: (reason: string) => void): void {
  Reflect.set(window, Symbol.for('LGUI_REQUIRE'), (name: string) => {
    if (Object.hasOwn(MODULES, name)) return MODULES[name];
    const reason = `Studio does not provide the module ${name}.`;
    onMissing(reason);
    throw new Error(reason);
  });
}
