import { defineConfig } from 'tsup'

export default defineConfig({
  // The two HTTP clients are entries of their own: the `imports` map of package.json picks one as `#http`.
  entry: {
    index: 'src/index.ts',
    internal: 'src/internal.ts',
    'http.node': 'src/http/http.node.ts',
    'http.fetch': 'src/http/http.fetch.ts',
  },
  format: ['esm', 'cjs'],
  external: ['#http'],
  // The entries share modules: one KeyrailError, one clock.
  splitting: true,
  // `Symbol.asyncDispose` is used in the types, and a project with `lib: ["es2022", "dom"]` does not know it.
  dts: {
    entry: { index: 'src/index.ts', internal: 'src/internal.ts' },
    banner: '/// <reference lib="esnext.disposable" />',
  },
  sourcemap: true,
  clean: true,
  target: 'es2022',
})
