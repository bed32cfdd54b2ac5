import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { callNode } from '../../packages/cli/src/node/callNode.ts'
import { borrowService } from './lendService.ts'
import { runExample } from './runExample.ts'
import type { Ended } from './runExample.ts'
import { latestBlockExamples } from './latestBlockExamples.ts'

const { service, copies: from } = await borrowService()
const { url, app, keys, nodes } = service
const run = (name: string, environment: Readonly<Record<string, string>>): Promise<Ended> =>
  runExample(`latest-block/${name}`, environment, [], from)

/** Expects that a program printed the latest block. Other tests mine blocks concurrently, so a newer block is accepted. */
async function expectLatest(redactedUrl: string, runProgram: () => Promise<Ended>): Promise<void> {
  const before = Number(await callNode(nodes.testnet, 'eth_blockNumber'))
  const { exitCode, stdout, stderr } = await runProgram()
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const number = Number(/^Block (\d+) is/.exec(stdout)?.[1])
  expect(number).toBeGreaterThanOrEqual(before)
  const block = await callNode(nodes.testnet, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
  expect(stdout).toBe(`Block ${number} is ${(block as { hash: string }).hash}\nEndpoint: ${redactedUrl}\n`)
}

test('there is a program for fetch and for each adapter, and a script that runs it', () => {
  const folder = join(import.meta.dirname, '../latest-block')
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts'))
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { scripts: object }
  expect(
    Object.values(scripts)
      .map((script: string) => script.split(' ').at(-1))
      .sort(),
  ).toEqual(names)
  expect(names).toEqual(latestBlockExamples)
})

describe.each(latestBlockExamples)('examples/latest-block/%s', (name) => {
  test('reads the latest block of the service on this machine, and exits', async () => {
    await expectLatest(`${url}/testnet/v2/…${app.apiKey.slice(-4)}`, () => run(name, {}))
  })

  test('fails with a wrong key, and does not print it', async () => {
    // A well-formed key that does not exist.
    const apiKey = app.apiKey.replace(/.{12}$/, (end) => [...end].reverse().join(''))
    const ended = await run(name, { KEYRAIL_BASE_URL: `${url}/testnet`, KEYRAIL_API_KEY: apiKey })
    expect(ended).toMatchObject({ exitCode: 1, stdout: '' })
    expect(ended.stderr).toContain('Invalid API key')
    expect(ended.stderr).not.toContain(apiKey.slice(4, 12))
  })
})

// All of them get the endpoint from examples/address.ts.
test('environment variables set the RPC URL of an API key', async () => {
  const { apiKey } = keys.testnet
  const environment = { KEYRAIL_RPC_URL: `${url}/testnet`, KEYRAIL_API_KEY: apiKey }
  await expectLatest(`${url}/testnet/…${apiKey.slice(-4)}`, () => run('fetch.ts', environment))
})

test('a key from the environment is never sent to the service on this machine', async () => {
  const ended = await run('fetch.ts', { KEYRAIL_API_KEY: keys.mainnet.apiKey })
  expect(ended).toMatchObject({ exitCode: 0, stderr: '' })
})

test('an environment variable sets a full URL', async () => {
  const environment = { KEYRAIL_URL: app.urls.testnet }
  await expectLatest(`${url}/…${app.apiKey.slice(-4)}`, () => run('fetch.ts', environment))
})

test('without a running service, an example prints how to start one', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'keyrail-examples-'))
  cpSync(from, join(empty, 'examples'), { recursive: true, verbatimSymlinks: true })
  const ended = await runExample('latest-block/fetch.ts', {}, [], join(empty, 'examples'))
  rmSync(empty, { recursive: true, force: true })
  expect(ended).toMatchObject({ exitCode: 2, stdout: '' })
  expect(ended.stderr).toContain('npm start')
})
