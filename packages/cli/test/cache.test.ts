import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runHere } from './runHere.ts'

const networks = { testnet: { chainId: 5, upstreams: [{ url: 'http://127.0.0.1:9' }] } }

/** Writes a config, and an empty chain store. @returns The path of the config. */
const writeConfig = (members: Readonly<Record<string, unknown>>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'keyrail-cache-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'keyrail.config.json')
  writeFileSync(file, JSON.stringify({ publicUrl: 'http://localhost', networks, ...members }))
  writeFileSync(join(folder, 'cache.db'), '')
  return file
}

test('keyrail cache shows what the chain store has, and deletes it', async () => {
  const config = writeConfig({ cache: { file: 'cache.db' } })
  const stats = await runHere(['cache', 'stats', '--config', config])
  expect(stats).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/cache\.db has 0\.\d MB\.\n$/) as string })
  const json = await runHere(['cache', 'stats', '--json', '--config', config])
  expect(JSON.parse(json.stdout)).toMatchObject({ file: expect.stringContaining('cache.db') as string, chains: [] })
  const words = ['cache', 'purge', '--network', 'testnet', '--upstream', 'own', '--config', config]
  expect(await runHere(words)).toMatchObject({
    exitCode: 0,
    stdout: 'Deleted what the chain store had of testnet that own sent.\n',
  })
})

test.each([
  ['without an action', { cache: { file: 'cache.db' } }, [], 'needs an action: stats, purge or warm'],
  ['without a chain store', {}, ['stats'], 'cache is missing: without it, the service has no chain store'],
  ['with another file', { cache: { file: 'other.db' } }, ['stats'], 'names a file that does not exist'],
  ['warm without --address', { cache: { file: 'cache.db' } }, ['warm', '--from', '1'], 'needs --from and --address'],
  [
    'warm with a tag',
    { cache: { file: 'cache.db' } },
    ['warm', '--from', 'earliest', '--address', `0x${'ab'.repeat(20)}`],
    '--from must be the number of a block',
  ],
  [
    'warm of an unknown network',
    { cache: { file: 'cache.db' } },
    ['warm', '--network', 'mainnet', '--from', '1', '--address', `0x${'ab'.repeat(20)}`],
    'has no "mainnet": it has testnet',
  ],
  [
    'with an unknown network',
    { cache: { file: 'cache.db' } },
    ['purge', '--network', 'mainnet'],
    'has no "mainnet": it has testnet',
  ],
])('keyrail cache %s fails and says how to fix it', async (_, members, words, message) => {
  const run = await runHere(['cache', ...words, '--config', writeConfig(members)])
  expect(run.exitCode).toBe(2)
  expect(run.stderr).toContain(message)
})
