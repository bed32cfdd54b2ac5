import { defineConfig } from 'tsup'

export default defineConfig({
  // The two carriers stand beside the index: the `imports` map of package.json picks one as `#http`.
  entry: { index: 'src/index.ts', 'http.node': 'src/http/http.node.ts', 'http.fetch': 'src/http/http.fetch.ts' },
  format: ['esm', 'cjs'],
  external: ['#http'],
  splitting: false,
  // `Symbol.asyncDispose` stands in the types, and a project with `lib: ["es2022", "dom"]` does not know it of itself.
  dts: {
    entry: { index: 'src/index.ts' },
    banner: '/// <reference lib="esnext.disposable" />',
  },
  sourcemap: true,
  clean: true,
  target: 'es2022',
})
