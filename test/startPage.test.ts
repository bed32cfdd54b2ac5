import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { fences } from './fences.ts'
import { run, top } from './run.ts'

const room = mkdtempSync(join(tmpdir(), 'keyrail-start-page-'))
afterAll(() => rmSync(room, { recursive: true, force: true }))

/** The service that a reader has running by then, as far as the programs of the page can tell. */
const node = `
import { createMockNode } from '@keyrail/msw'
import { setupServer } from 'msw/node'

const { KEYRAIL_BASE_URL, KEYRAIL_API_KEY } = process.env
const node = createMockNode({ baseUrl: KEYRAIL_BASE_URL, apiKey: KEYRAIL_API_KEY })
const contract = '0x' + 'c0'.repeat(20)
for (const _ of [1, 2, 3]) node.emit({ address: contract, topics: ['0x' + 'ab'.repeat(32)], data: '0x' })
setupServer(...node.handlers).listen({ onUnhandledFrame: 'error' })
`

test('the programs of the first five minutes run as they stand', async () => {
  const programs = fences(readFileSync(join(top, 'docs/start.md'), 'utf8'))
    .filter(({ info }) => info === 'js')
    // The test has a node of its own, and takes it away when it ends: it comes last.
    .sort((a, b) => Number(a.code.includes("'node:test'")) - Number(b.code.includes("'node:test'")))
  expect(programs).toHaveLength(3)
  for (const [at, { code }] of programs.entries()) writeFileSync(join(room, `program${at}.mjs`), code)
  writeFileSync(join(room, 'node.mjs'), node)
  writeFileSync(join(room, 'all.mjs'), programs.map((_, at) => `await import('./program${at}.mjs')\n`).join(''))
  symlinkSync(join(top, 'node_modules'), join(room, 'node_modules'))

  const env = { KEYRAIL_BASE_URL: 'https://other.example/testnet', KEYRAIL_API_KEY: 'kr_aNobodysKeyNobodysKey' }
  const { code, stdout, stderr } = await run(
    'node',
    ['--conditions=@keyrail/source', '--import', './node.mjs', 'all.mjs'],
    { cwd: room, env },
  )
  expect(stdout).toMatch(/^3n 0x[\da-f]{64} https:[/][/]other[.]example[/]testnet[/]v2[/]…/m)
  expect(stdout.match(/"logIndex":/g)).toHaveLength(3)
  expect(stdout).toMatch(/pass 1\b/)
  expect(stdout + stderr).not.toContain(env.KEYRAIL_API_KEY)
  expect(code).toBe(0)
})
