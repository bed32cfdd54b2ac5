import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts'],
  format: ['esm', 'cjs'],
  // `Symbol.asyncDispose` stands in the types, and a project with `lib: ["es2022", "dom"]` does not know it of itself.
  dts: { banner: '/// <reference lib="esnext.disposable" />' },
  sourcemap: true,
  clean: true,
  target: 'es2022',
})
