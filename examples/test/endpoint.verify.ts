import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { borrowService } from './lendService.ts'
import { runExample } from './runExample.ts'
import type { Ended } from './runExample.ts'

// All examples get their endpoint from examples/endpoint.ts.
const { service, copies } = await borrowService()
const { url, app, keys } = service
const run = (environment: Readonly<Record<string, string>>, from = copies): Promise<Ended> =>
  runExample('balances/balances.ts', environment, [], from)

test.each([
  ['nothing is set, and calls the service on this machine', {}],
  ['the base URL and the key of an app are set', { KEYRAIL_BASE_URL: `${url}/testnet`, KEYRAIL_API_KEY: app.apiKey }],
  ['an RPC URL and an API key are set', { KEYRAIL_RPC_URL: `${url}/testnet`, KEYRAIL_API_KEY: keys.testnet.apiKey }],
  ['a full URL is set', { KEYRAIL_URL: app.urls.testnet }],
])('an example runs if %s', async (_, environment) => {
  const { exitCode, stdout, stderr } = await run(environment)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  expect(stdout).toMatch(/^0x[\da-f]{40} \d+ wei$/m)
})

test('a wrong key fails, and is not printed', async () => {
  // A well-formed key that does not exist.
  const apiKey = app.apiKey.replace(/.{12}$/, (end) => [...end].reverse().join(''))
  const ended = await run({ KEYRAIL_BASE_URL: `${url}/testnet`, KEYRAIL_API_KEY: apiKey })
  expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
  expect(ended.stderr).toContain('Invalid API key')
  expect(ended.stderr).not.toContain(apiKey.slice(4, 12))
})

test('a key from the environment is never sent to the service on this machine', async () => {
  const ended = await run({ KEYRAIL_API_KEY: keys.mainnet.apiKey })
  expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
})

test('without a running service, an example prints how to start one', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'keyrail-examples-'))
  onTestFinished(() => rmSync(empty, { recursive: true, force: true }))
  cpSync(copies, join(empty, 'examples'), { recursive: true, verbatimSymlinks: true })
  const ended = await run({}, join(empty, 'examples'))
  expect(ended).toMatchObject({ exitCode: 2, stdout: '' })
  expect(ended.stderr).toContain('npm start')
})
