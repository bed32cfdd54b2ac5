import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { DevDescription } from '../src/dev/devDescription.ts'
import { failedRun } from './failedRun.ts'
import { post, startDevCli } from './runCli.ts'
import type { CliRun, RunningDev } from './runCli.ts'
import { runHere } from './runHere.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let dev: RunningDev
let service: DevDescription<string>
let token = ''

beforeAll(async () => {
  dev = await startDevCli(['--networks', 'ethereum,base,base-sepolia'])
  service = dev.service as unknown as DevDescription<string>
  const headers = { 'content-type': 'application/json', origin: service.url }
  const session = await fetch(`${service.url}/api/session`, {
    method: 'POST',
    headers,
    body: JSON.stringify(service.account),
  })
  const cookie = session.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const made = await fetch(`${service.url}/api/tokens`, {
    method: 'POST',
    headers: { ...headers, cookie },
    body: JSON.stringify({ label: 'all', scopes: ['read', 'keys:write', 'apps:write'], expiresAt: null }),
  })
  token = ((await made.json()) as { token: string }).token
})
afterAll(async () => {
  dev.child.kill('SIGTERM')
  await dev.done
})

const environment = () => ({ KEYRAIL_SERVICE_URL: service.url, KEYRAIL_TOKEN: token })
const run = async (...words: readonly string[]): Promise<CliRun> => {
  const result = await runHere(words, environment())
  expect(result).toMatchObject({ exitCode: 0 })
  return result
}
const fail = (...words: readonly string[]) => failedRun(words, environment())
const readApp = async (...words: readonly string[]): Promise<{ chain: string; networks: readonly string[] }> => {
  const result = JSON.parse((await run(...words, '--json')).stdout) as { app?: unknown }
  return (result.app ?? result) as { chain: string; networks: readonly string[] }
}

describe('keyrail networks', () => {
  test('lists the networks of the service, without a token', async () => {
    const { exitCode, stdout } = await runHere(['networks', '--service', service.url])
    expect(exitCode).toBe(0)
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 5))).toEqual([
      ['NETWORK', 'TITLE', 'CHAIN', 'CHAIN ID', 'SYMBOL'],
      ['ethereum', 'Ethereum Mainnet', 'ethereum', '1', 'ETH'],
      ['base', 'Base Mainnet', 'base', '8453', 'ETH'],
      ['base-sepolia', 'Base Sepolia', 'base', '84532', 'ETH'],
      [''],
    ])
    expect(stdout).toContain(`${service.url}/base-sepolia\n`)
  })

  test('--search and --json', async () => {
    const { stdout } = await run('networks', '--search', 'Sepolia', '--json')
    expect(JSON.parse(stdout)).toEqual({
      chains: [{ chain: 'base', title: 'Base', aliases: [] }],
      networks: [expect.objectContaining({ network: 'base-sepolia', chainId: 84_532, testnet: true })],
    })
    expect((await run('networks', '--search', '84532')).stdout).toMatch(/^NETWORK[^\n]*\nbase-sepolia {2}[^\n]*\n$/)
    expect((await run('networks', '--search', 'dogecoin')).stdout).toBe('No networks found\n')
  })

  test('rejects an argument', async () => {
    expect(await fail('networks', 'base')).toMatchObject({ exitCode: 2 })
    expect(await fail('networks', '--base-url', service.url)).toMatchObject({
      exitCode: 2,
      lines: expect.arrayContaining([expect.stringContaining('use --service URL')]),
    })
  })
})

describe('keyrail apps', () => {
  test('create takes all networks of a chain, or those of --network by any of their names', async () => {
    expect(await readApp('apps', 'create', 'Both', '--chain', 'Base', '--show')).toMatchObject({
      chain: 'base',
      networks: ['base', 'base-sepolia'],
    })
    const networks = ['--network', 'ethereum-mainnet,base-sepolia']
    expect(await readApp('apps', 'create', 'Two', ...networks, '--show')).toMatchObject({
      chain: 'ethereum',
      networks: ['ethereum', 'base-sepolia'],
    })
  })

  test('edit replaces the networks, and changes nothing else', async () => {
    await run('apps', 'create', 'Edited', '--network', 'base', '--use-case', 'gaming', '--show')
    expect(await readApp('apps', 'edit', 'edited', '--network', 'ethereum', '--network', 'base')).toMatchObject({
      networks: ['ethereum', 'base'],
      useCase: 'Gaming',
      name: 'Edited',
    })
    const { stdout } = await run('apps', 'edit', 'edited', '--name', 'Renamed', '--use-case', 'NFT')
    expect(stdout).toMatch(/^Changed Renamed\n/)
    expect(await readApp('apps', 'show', 'Renamed')).toMatchObject({ networks: ['ethereum', 'base'], useCase: 'NFT' })
  })

  test.each<[string, string[], RegExp, RegExp]>([
    ['no chain', ['apps', 'create', 'a', '--show'], /several chains/, /--chain with one of ethereum, base/],
    ['an unknown chain', ['apps', 'create', 'a', '--chain', 'bse', '--show'], /no chain bse/, /did you mean base\?/],
    [
      'an unknown network',
      ['apps', 'create', 'a', '--network', 'base-sepola', '--show'],
      /no network base-sepola/,
      /did you mean base-sepolia\? It has ethereum, base, base-sepolia/,
    ],
    ['a network that is no name', ['apps', 'create', 'a', '--network', 'Base!', '--show'], /--network must be/, /./],
    ['nothing to edit', ['apps', 'edit', 'a'], /nothing to change/, /--network/],
    ['an unknown network of a key', ['keys', 'create', 'a', '--network', 'polygon', '--show'], /no network/, /It has/],
    ['two networks of a key', ['keys', 'create', 'a', '--network', 'base,ethereum', '--show'], /has one network/, /./],
  ])('rejects %s', async (_what, words, message, hint) => {
    const { lines } = await fail(...words)
    expect(lines[0]).toMatch(message)
    expect(lines[1]).toMatch(hint)
  })
})

test('keyrail keys create takes any name of a network', async () => {
  const { stdout } = await run('keys', 'create', 'Indexer', '--network', 'ethereum-mainnet', '--show')
  expect((await post(`${service.url}/ethereum/${stdout.trim()}`, 'eth_chainId'))['result']).toBe('0x1')
})

test('keyrail doctor and keyrail snippet take any network', async () => {
  const url = `${service.url}/{network}`
  const quick = ['--calls', '1', '--batch', '0', '--log-range', '0', '--chain-id', '84532', '--json']
  const examined = await runHere(['doctor', '--base-url', url, '--network', 'base-sepolia', ...quick], {
    KEYRAIL_API_KEY: service.app.apiKey,
  })
  expect(JSON.parse(examined.stdout)).toMatchObject({ redactedUrl: expect.stringContaining('/base-sepolia/v2/') })
  expect(examined.stdout).toContain('the chain id is 84532, as expected')
  const { stderr } = await runHere(['snippet', '--base-url', url, '--network', 'base-sepolia', '--library', 'curl'])
  expect(stderr).toContain(`KEYRAIL_BASE_URL=${service.url}/base-sepolia\n`)
})
