import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callNode } from '../../packages/cli/src/node/callNode.ts'
import { borrowService } from './lendService.ts'
import { startLossyService } from './lossyService.ts'
import type { LossyService } from './lossyService.ts'
import { runExample, startExample } from './runExample.ts'

const { service } = await borrowService()
const node = service.nodes.testnet
const environment = { KEYRAIL_BASE_URL: `${service.url}/testnet`, KEYRAIL_API_KEY: service.app.apiKey }
let room = ''
beforeAll(() => {
  room = mkdtempSync(join(tmpdir(), 'keyrail-examples-'))
})
afterAll(() => rmSync(room, { recursive: true, force: true }))

const getNumbers = (text: string): number[] => [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits))

describe('examples/balances', () => {
  test('reads many accounts in one request, at one block', async () => {
    const accounts = Array.from({ length: 40 }, (_, index) => `0x${(index + 1).toString(16).padStart(40, '0')}`)
    await callNode(node, 'anvil_setBalance', [accounts[7], '0x7b'])
    // anvil_setBalance takes effect in the next block.
    await callNode(node, 'evm_mine')
    const { exitCode, stdout, stderr } = await runExample('balances/balances.ts', environment, accounts)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(41)
    expect(lines[7]).toBe(`${accounts[7]} 123 wei`)
    expect(lines.at(-1)).toBe('41 calls in 2 requests')
  })

  test('finds accounts without arguments', async () => {
    const { exitCode, stdout } = await runExample('balances/balances.ts', {
      ...environment,
      KEYRAIL_BASE_URL: `${service.url}/mainnet`,
    })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^0x[\da-f]{40} \d{18,} wei$/m)
    expect(stdout).toMatch(/in 3 requests\n$/)
  })

  test('finds accounts although the last blocks are empty, as on a chain that mines all the time', async () => {
    await callNode(node, 'anvil_mine', ['0xc'])
    const { exitCode, stdout } = await runExample('balances/balances.ts', environment)
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^0x[\da-f]{40} \d{18,} wei$/m)
  })
})

describe('examples/dapp-front-end', () => {
  test('is set up for the token of the chain, and does not change an existing file', async () => {
    const file = join(room, 'page.env')
    const setUp = () => runExample('dapp-front-end/setUpLocal.ts', { ...environment, ENV_FILE: file })
    expect(await setUp()).toMatchObject({ exitCode: 0, stderr: '' })
    const text = readFileSync(file, 'utf8')
    expect(text).toContain(`VITE_TOKEN=${service.tokens.testnet.address}\n`)
    expect(text).toContain(`VITE_CHAIN_ID=${service.chainIds.testnet}\n`)
    expect(await setUp()).toEqual({ exitCode: 0, stdout: '', stderr: '' })
    expect(readFileSync(file, 'utf8')).toBe(text)
  })
})

describe('examples/token-transfers', () => {
  test('writes every transfer once, in order, even after it was cut off in the middle of a line', async () => {
    const out = join(room, 'transfers.ndjson')
    const run = (): ReturnType<typeof runExample> =>
      runExample('token-transfers/transfers.ts', environment, ['--latest', '--out', out])
    expect(await run()).toMatchObject({ exitCode: 0, stdout: '' })
    const whole = readFileSync(out, 'utf8')
    const places = whole
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { block: number; index: number; value: string })
    expect(places.map(({ block, index, value }) => [block, index, BigInt(value) / 10n ** 18n])).toEqual([
      [2, 0, 1_000_000n],
      [3, 0, 100n],
      [3, 1, 50n],
      [7, 0, 200n],
      [7, 1, 100n],
    ])
    truncateSync(out, whole.indexOf('\n') + 20)
    expect((await run()).exitCode).toBe(0)
    expect(readFileSync(out, 'utf8')).toBe(whole)
    expect((await run()).exitCode).toBe(0)
    expect(readFileSync(out, 'utf8')).toBe(whole)
  })
})

test('examples/one-transport shares identical reads of both libraries', async () => {
  const { exitCode, stdout, stderr } = await runExample('one-transport/oneTransport.ts', environment)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  const [viemLine, ethersLine, countLine] = stdout.split('\n')
  expect(viemLine?.replace('viem:  ', 'ethers:')).toBe(ethersLine)
  const [calls = 0, joined = 0, requests = 0] = getNumbers(countLine ?? '')
  expect(joined).toBeGreaterThan(0)
  expect(requests).toBe(calls - joined)
})

describe('examples/send-safely', () => {
  const to = '0x00000000000000000000000000000000000000e5'
  // The sixth account of every development node. No other test uses it.
  const PRIVATE_KEY = '0x8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba'
  const getPaid = async (): Promise<bigint> =>
    BigInt((await callNode(node, 'eth_getBalance', [to, 'latest'])) as string)
  const ether = 10n ** 18n
  let lossy: LossyService
  let outbox = ''
  beforeAll(async () => {
    lossy = await startLossyService(service.app.urls.testnet)
    outbox = join(room, 'outbox.txt')
  })
  afterAll(() => lossy?.stop())

  const pay = (): ReturnType<typeof runExample> =>
    runExample('send-safely/sendSafely.ts', { KEYRAIL_URL: lossy.url, PRIVATE_KEY, OUTBOX: outbox }, [to, '1'])

  test('pays once and reports it, even if the response is lost', async () => {
    lossy.loses = 'response'
    const { exitCode, stdout, stderr } = await pay()
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(/^Sent as 0x[\da-f]{64}\nPaid in block \d+\n$/)
    expect(await getPaid()).toBe(ether)
    expect(existsSync(outbox)).toBe(false)
  })

  test('saves the signed transaction if nothing arrives, and the next run sends the same', async () => {
    lossy.loses = 'call'
    lossy.transactions.length = 0
    const first = await pay()
    expect(first).toMatchObject({ exitCode: 1, stdout: '' })
    expect(first.stderr).toContain('Run this again to send the same transaction.')
    const saved = readFileSync(outbox, 'utf8')
    // A transaction signed now would have a different fee.
    await callNode(node, 'evm_mine')
    lossy.loses = 'nothing'
    const second = await pay()
    expect(second).toMatchObject({ exitCode: 0, stderr: '' })
    expect(second.stdout).toMatch(/^Resuming the transaction of an earlier run\nSent as /)
    expect(new Set(lossy.transactions)).toEqual(new Set([saved]))
    expect(await getPaid()).toBe(2n * ether)
  })

  test('requires PRIVATE_KEY if the service is not the one of this machine', async () => {
    const { exitCode, stderr } = await runExample('send-safely/sendSafely.ts', { ...environment, OUTBOX: outbox })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('PRIVATE_KEY')
  })
})

test('examples/subscribe-blocks prints each block, reports replaced blocks, and exits on Ctrl-C', async () => {
  // The other network, on which no other test mines blocks.
  const { mainnet } = service.nodes
  const hash = async (number: bigint): Promise<string> =>
    ((await callNode(mainnet, 'eth_getBlockByNumber', [`0x${number.toString(16)}`, false])) as { hash: string }).hash
  const head = BigInt((await callNode(mainnet, 'eth_blockNumber')) as string)
  const running = startExample('subscribe-blocks/subscribeBlocks.ts', {
    ...environment,
    KEYRAIL_BASE_URL: `${service.url}/mainnet`,
  })
  const prints = (text: string): Promise<void> =>
    expect.poll(() => running.printed().stdout, { timeout: 60_000, interval: 50 }).toContain(text)
  await prints(`Block ${head} with 1 transactions is ${await hash(head)}\n`)
  // One second apart: the polling interval adapts to it.
  await callNode(mainnet, 'anvil_mine', ['0x2', '0x1'])
  const replaced = await hash(head + 2n)
  await prints(`Block ${head + 1n} with 0 transactions is ${await hash(head + 1n)}\n`)
  await prints(`Block ${head + 2n} with 0 transactions is ${replaced}\n`)
  const [from] = (await callNode(mainnet, 'eth_accounts')) as string[]
  // With a transaction, because an empty replacement could have the same hash.
  await callNode(mainnet, 'anvil_reorg', [1, [[{ from, to: from, value: '0x1' }, 0]]])
  await callNode(mainnet, 'evm_mine')
  await prints(`Block ${head + 3n} with`)
  expect(running.printed().stdout).toContain(`Block ${head + 2n} is no longer ${replaced}\nBlock ${head + 2n} with 1 `)
  running.child.kill('SIGINT')
  expect(await running.done).toMatchObject({ exitCode: 0, stderr: '' })
})
