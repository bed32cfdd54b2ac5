import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

test('the bundle with all dependencies except msw is at most 45 kB, and has no Node modules', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '../src/index.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    conditions: ['@keyrail/source'],
    external: ['msw'],
    logLevel: 'silent',
  })
  const code = outputFiles[0]?.text ?? ''
  const weight = brotliCompressSync(code).length
  console.log(`msw: ${weight} bytes brotli of 45000`)
  expect(weight).toBeGreaterThan(10_000)
  expect(weight).toBeLessThanOrEqual(45_000)
  expect(code.match(/from\s*["']node:|require\(/)).toBeNull()
})
