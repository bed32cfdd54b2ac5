import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  // The types use `Symbol.asyncDispose`, which a project with `lib: ["es2022", "dom"]` does not know without this reference.
  dts: { banner: '/// <reference lib="esnext.disposable" />' },
  sourcemap: true,
  clean: true,
  target: 'es2022',
})
