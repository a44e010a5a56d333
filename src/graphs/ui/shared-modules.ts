import type { Plugin } from 'esbuild';

/** What the official client provides (CONTRACT §2, `/ui`): two copies of React on a page do not work together. */
const ALWAYS = ['react', 'react-dom', '@langchain/langgraph-sdk'];

/** The namespace of their stand-ins. */
const SHARED = 'shared';

/** Leaves these packages, and what lies below them, to the page: it hands them over when the program runs. */
export function sharedModules(more: readonly string[]): Plugin {
  const names = [...ALWAYS, ...more];
  const isShared = (path: string) => names.some((name) => path === name || path.startsWith(`${name}/`));
  return {
    name: 'shared-modules',
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
        isShared(path) ? { path, namespace: SHARED } : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: SHARED }, ({ path }) => ({
        contents: `module.exports = globalThis[Symbol.for("LGUI_REQUIRE")](${JSON.stringify(path)});`,
      }));
    },
  };
}
