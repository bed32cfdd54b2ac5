import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  // The types use `Symbol.asyncDispose`, which `lib: ["es2022", "dom"]` does not declare.
  dts: { banner: '/// <reference lib="esnext.disposable" />' },
  sourcemap: true,
  clean: true,
  target: 'es2022',
})
