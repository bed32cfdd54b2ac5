import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findFences } from './findFences.ts'
import { run, top } from './run.ts'

const directory = mkdtempSync(join(tmpdir(), 'keyrail-start-page-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A program that replaces the service of the page with a mock node. */
const mockService = `
import { createMockNode } from '@keyrail/msw'
import { setupServer } from 'msw/node'

const { KEYRAIL_BASE_URL, KEYRAIL_API_KEY } = process.env
const node = createMockNode({ baseUrl: KEYRAIL_BASE_URL, apiKey: KEYRAIL_API_KEY })
const contract = '0x' + 'c0'.repeat(20)
for (const _ of [1, 2, 3]) node.emit({ address: contract, topics: ['0x' + 'ab'.repeat(32)], data: '0x' })
setupServer(...node.handlers).listen({ onUnhandledFrame: 'error' })
`

test('the programs of docs/start.md run unchanged', async () => {
  const programs = findFences(readFileSync(join(top, 'docs/start.md'), 'utf8'))
    .filter(({ info }) => info === 'js')
    // The test starts and closes its own mock node, so it runs last.
    .sort((a, b) => Number(a.code.includes("'node:test'")) - Number(b.code.includes("'node:test'")))
  expect(programs).toHaveLength(3)
  for (const [at, { code }] of programs.entries()) writeFileSync(join(directory, `program${at}.mjs`), code)
  writeFileSync(join(directory, 'node.mjs'), mockService)
  writeFileSync(join(directory, 'all.mjs'), programs.map((_, at) => `await import('./program${at}.mjs')\n`).join(''))
  symlinkSync(join(top, 'node_modules'), join(directory, 'node_modules'))

  const env = { KEYRAIL_BASE_URL: 'https://other.example/testnet', KEYRAIL_API_KEY: 'kr_aNobodysKeyNobodysKey' }
  const { code, stdout, stderr } = await run(
    'node',
    ['--conditions=@keyrail/source', '--import', './node.mjs', 'all.mjs'],
    { cwd: directory, env },
  )
  expect(stdout).toMatch(/^3n 0x[\da-f]{64} https:[/][/]other[.]example[/]testnet[/]v2[/]…/m)
  expect(stdout.match(/"logIndex":/g)).toHaveLength(3)
  expect(stdout).toMatch(/pass 1\b/)
  expect(stdout + stderr).not.toContain(env.KEYRAIL_API_KEY)
  expect(code).toBe(0)
})
