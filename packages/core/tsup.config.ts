import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig } from 'tsup'
import { getRules } from './src/failure/rules.ts'
import { shrinkRules } from './src/failure/shrinkRules.ts'

// The types use `Symbol.asyncDispose`, which a project with `lib: ["es2022", "dom"]` does not know.
const banner = '/// <reference lib="esnext.disposable" />'

export default defineConfig([
  {
    entry: {
      core: 'src/everything.ts',
      index: 'src/index.ts',
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
        name: 'bundles contain the rules of classification.json in their short form, without their sections',
        setup: (build) => {
          build.onLoad({ filter: /[\\/]failure[\\/]rules\.ts$/ }, ({ path }) => ({
            contents: `import { readRules } from './readRules.ts'
              export const getRules = () => readRules(${JSON.stringify(shrinkRules(getRules()))})`,
            loader: 'ts',
            resolveDir: dirname(path),
          }))
        },
      },
      {
        name: 'index.js and internal.js import core.js, which contains both',
        setup: (build) => {
          const extension = build.initialOptions.format === 'cjs' ? 'cjs' : 'js'
          build.onResolve({ filter: /^\.\//, namespace: 'file' }, ({ path, importer, resolveDir }) => {
            // A module of its own, because the same file is an entry too.
            if (importer.endsWith('everything.ts')) return { path: join(resolveDir, path), namespace: 'contained' }
            return /[\\/]src[\\/](index|internal)\.ts$/.test(importer)
              ? { path: `./core.${extension}`, external: true, sideEffects: false }
              : undefined
          })
          build.onLoad({ filter: /./, namespace: 'contained' }, ({ path }) => ({
            contents: readFileSync(path, 'utf8'),
            loader: 'ts',
            resolveDir: dirname(path),
          }))
        },
      },
    ],
    dts: { entry: { index: 'src/index.ts', schema: 'src/schema/index.ts' }, banner },
    sourcemap: true,
    clean: true,
    target: 'es2022',
  },
  // Apart: with a shared file of types, index.d.ts would export them under one-letter names.
  { entry: { internal: 'src/internal.ts' }, format: ['esm', 'cjs'], dts: { only: true, banner } },
])
