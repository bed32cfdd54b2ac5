import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askNode } from '../../packages/cli/src/node/askNode.ts'
import { borrowService } from './lendService.ts'
import { startLossyService } from './lossyService.ts'
import type { LossyService } from './lossyService.ts'
import { runExample, startExample } from './runExample.ts'

const { service } = await borrowService()
const node = service.nodes.testnet
const there = { KEYRAIL_BASE_URL: `${service.url}/testnet`, KEYRAIL_API_KEY: service.app.apiKey }
let room = ''
beforeAll(() => {
  room = mkdtempSync(join(tmpdir(), 'keyrail-examples-'))
})
afterAll(() => rmSync(room, { recursive: true, force: true }))

const numbersOf = (text: string): number[] => [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits))

describe('examples/balances', () => {
  test('asks of many accounts in one request, at one block', async () => {
    const accounts = Array.from({ length: 40 }, (_, index) => `0x${(index + 1).toString(16).padStart(40, '0')}`)
    await askNode(node, 'anvil_setBalance', [accounts[7], '0x7b'])
    // A balance that is set by hand is in the next block.
    await askNode(node, 'evm_mine')
    const { exitCode, stdout, stderr } = await runExample('balances/balances.ts', there, accounts)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(41)
    expect(lines[7]).toBe(`${accounts[7]} 123 wei`)
    expect(lines.at(-1)).toBe('41 calls in 2 requests')
  })

  test('finds accounts by itself', async () => {
    const { exitCode, stdout } = await runExample('balances/balances.ts', {
      ...there,
      KEYRAIL_BASE_URL: `${service.url}/mainnet`,
    })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^0x[\da-f]{40} \d{18,} wei$/m)
    expect(stdout).toMatch(/in 3 requests\n$/)
  })
})

describe('examples/token-transfers', () => {
  test('has every transfer once, in order, also when it was cut off in the middle of a line', async () => {
    const out = join(room, 'transfers.ndjson')
    const run = (): ReturnType<typeof runExample> =>
      runExample('token-transfers/transfers.ts', there, ['--latest', '--out', out])
    expect(await run()).toMatchObject({ exitCode: 0, stdout: '' })
    const whole = readFileSync(out, 'utf8')
    const places = whole
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { block: number; index: number; value: string })
    expect(places.map(({ block, index, value }) => [block, index, value])).toEqual([
      [2, 0, '1000000'],
      [3, 0, '100'],
      [3, 1, '50'],
      [7, 0, '200'],
      [7, 1, '100'],
    ])
    truncateSync(out, whole.indexOf('\n') + 20)
    expect((await run()).exitCode).toBe(0)
    expect(readFileSync(out, 'utf8')).toBe(whole)
    expect((await run()).exitCode).toBe(0)
    expect(readFileSync(out, 'utf8')).toBe(whole)
  })
})

test('examples/one-transport asks once for what both libraries want', async () => {
  const { exitCode, stdout, stderr } = await runExample('one-transport/oneTransport.ts', there)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const [byViem, byEthers, counted] = stdout.split('\n')
  expect(byViem?.replace('viem:  ', 'ethers:')).toBe(byEthers)
  const [calls = 0, joined = 0, requests = 0] = numbersOf(counted ?? '')
  expect(joined).toBeGreaterThan(0)
  expect(requests).toBe(calls - joined)
})

describe('examples/send-safely', () => {
  const to = '0x00000000000000000000000000000000000000e5'
  // The sixth account of every development node: nobody else's in these tests.
  const PRIVATE_KEY = '0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba'
  const paid = async (): Promise<bigint> => BigInt((await askNode(node, 'eth_getBalance', [to, 'latest'])) as string)
  const ether = 10n ** 18n
  let lossy: LossyService
  let outbox = ''
  beforeAll(async () => {
    lossy = await startLossyService(service.app.addresses.testnet)
    outbox = join(room, 'outbox.txt')
  })
  afterAll(() => lossy?.stop())

  const pay = (): ReturnType<typeof runExample> =>
    runExample('send-safely/sendSafely.ts', { KEYRAIL_URL: lossy.url, PRIVATE_KEY, OUTBOX: outbox }, [to, '1'])

  test('pays once where the answer is lost, and knows it', async () => {
    lossy.loses = 'answer'
    const { exitCode, stdout, stderr } = await pay()
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(/^Sent as 0x[\da-f]{64}\nPaid in block \d+\n$/)
    expect(await paid()).toBe(ether)
    expect(existsSync(outbox)).toBe(false)
  })

  test('keeps what it signed where nothing arrives, and the next run sends the same', async () => {
    lossy.loses = 'call'
    lossy.transactions.length = 0
    const first = await pay()
    expect(first).toMatchObject({ exitCode: 1, stdout: '' })
    expect(first.stderr).toContain('Run this again, and the same transaction is sent.')
    const kept = readFileSync(outbox, 'utf8')
    // What is signed now would have another fee.
    await askNode(node, 'evm_mine')
    lossy.loses = 'nothing'
    const second = await pay()
    expect(second).toMatchObject({ exitCode: 0, stderr: '' })
    expect(second.stdout).toMatch(/^Going on with what an earlier run has signed\nSent as /)
    expect(new Set(lossy.transactions)).toEqual(new Set([kept]))
    expect(await paid()).toBe(2n * ether)
  })

  test('wants to be told who pays, where the service is not the one of this machine', async () => {
    const { exitCode, stderr } = await runExample('send-safely/sendSafely.ts', { ...there, OUTBOX: outbox })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('PRIVATE_KEY')
  })
})

test('examples/watch-blocks tells of each block, takes back what was replaced, and ends by Ctrl-C', async () => {
  // The other network, so that no other test makes blocks there.
  const { mainnet } = service.nodes
  const hash = async (number: bigint): Promise<string> =>
    ((await askNode(mainnet, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as { hash: string }).hash
  const head = BigInt((await askNode(mainnet, 'eth_blockNumber')) as string)
  const running = startExample('watch-blocks/watchBlocks.ts', { ...there, KEYRAIL_BASE_URL: `${service.url}/mainnet` })
  const prints = (text: string): Promise<void> =>
    expect.poll(() => running.printed().stdout, { timeout: 60_000, interval: 50 }).toContain(text)
  await prints(`Block ${head} with 1 transactions is ${await hash(head)}\n`)
  // A second apart: by that it learns how often to look.
  await askNode(mainnet, 'anvil_mine', ['0x2', '0x1'])
  const replaced = await hash(head + 2n)
  await prints(`Block ${head + 1n} with 0 transactions is ${await hash(head + 1n)}\n`)
  await prints(`Block ${head + 2n} with 0 transactions is ${replaced}\n`)
  const [from] = (await askNode(mainnet, 'eth_accounts')) as string[]
  // With something in it, or the new block could be the same as the old one.
  await askNode(mainnet, 'anvil_reorg', [1, [[{ from, to: from, value: '0x1' }, 0]]])
  await askNode(mainnet, 'evm_mine')
  await prints(`Block ${head + 3n} with`)
  expect(running.printed().stdout).toContain(`Block ${head + 2n} is no longer ${replaced}\nBlock ${head + 2n} with 1 `)
  running.child.kill('SIGINT')
  expect(await running.done).toMatchObject({ exitCode: 0, stderr: '' })
})
