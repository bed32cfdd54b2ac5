import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/everything.ts',
    internal: 'src/internal.ts',
    // Types only: its JavaScript is empty.
    schema: 'src/schema/index.ts',
    // The two HTTP clients are separate files: the `imports` map of package.json picks one of them as `#http`.
    'http.node': 'src/http/http.node.ts',
    'http.fetch': 'src/http/http.fetch.ts',
  },
  format: ['esm', 'cjs'],
  external: ['#http'],
  splitting: false,
  esbuildPlugins: [
    {
      name: 'internal.js imports index.js',
      setup: (build) => {
        const extension = build.initialOptions.format === 'cjs' ? 'cjs' : 'js'
        build.onResolve({ filter: /^\.\/everything\.ts$/ }, () => ({
          path: `./index.${extension}`,
          external: true,
          sideEffects: false,
        }))
      },
    },
  ],
  // The types use `Symbol.asyncDispose`, which a project with `lib: ["es2022", "dom"]` does not know.
  dts: {
    entry: { index: 'src/index.ts', internal: 'src/internal.ts', schema: 'src/schema/index.ts' },
    banner: '/// <reference lib="esnext.disposable" />',
  },
  sourcemap: true,
  clean: true,
  target: 'es2022',
})
