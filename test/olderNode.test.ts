import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transform } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { run, top } from './run.ts'

test.each([
  { folder: 'cli', name: 'keyrail', needs: '24', code: 2 },
  { folder: 'create-keyrail', name: 'create-keyrail', needs: '22.18', code: 1 },
])('$name on Node 20 names the version that it needs', async ({ folder, name, needs, code }) => {
  const directory = mkdtempSync(join(tmpdir(), 'keyrail-node-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const source = readFileSync(join(top, 'packages', folder, 'src/main.ts'), 'utf8')
  const main = join(directory, 'main.mjs')
  writeFileSync(main, (await transform(source, { loader: 'ts', format: 'esm' })).code)
  const output = await run(join(top, 'node_modules/node20/bin/node'), [main, '--version'])
  expect(output).toMatchObject({ code, stdout: '' })
  expect(output.stderr).toMatch(
    new RegExp(`^${name}: needs Node ${needs} or later, and this is Node 20[.].*\n  hint: install`),
  )
})

test('set-up on Node 18 names the version that it needs, and not a missing pnpm', async () => {
  const versions = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.8" } })'
  const output = await run('node', ['--import', `data:text/javascript,${versions}`, join(top, 'scripts/setUp.mjs')])
  expect(output).toMatchObject({ code: 1, stdout: '' })
  expect(output.stderr).toMatch(/^Keyrail needs Node 20 or later, and this is Node 18[.]20[.]8[.] Install a newer Node/)
})
