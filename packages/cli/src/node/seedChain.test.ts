import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getBlockHead, callNode } from './callNode.ts'
import { exampleToken, tokenSupply, transferCall } from './exampleToken.ts'
import { blockSeconds, seedChain, countSeededBlocks } from './seedChain.ts'
import { startNode } from './startNode.ts'
import type { RunningNode } from './startNode.ts'

const rounds = 2
const folder = mkdtempSync(join(tmpdir(), 'keyrail-test-'))
let node: RunningNode
let token: string
let accounts: readonly string[]
const startedAt = Math.floor(Date.now() / 1_000)

beforeAll(async () => {
  const genesisAt = startedAt - blockSeconds * countSeededBlocks(rounds)
  node = await startNode({ name: 'testnet', chainId: 1952805748, folder, genesisAt })
  token = await seedChain(node.url, rounds)
  accounts = (await callNode(node.url, 'eth_accounts')) as readonly string[]
})
afterAll(async () => {
  await node.stop()
  rmSync(folder, { recursive: true, force: true })
})

const call = async <T>(method: string, ...params: readonly unknown[]): Promise<T> =>
  (await callNode(node.url, method, params)) as T
const word = (hex: string): string => hex.replace(/^0x/, '').padStart(64, '0')
/** Reads from the token. @returns The result as hex. */
const readToken = (data: string): Promise<string> => call('eth_call', { to: token, data }, 'latest')
const toTokens = (units: string): number => Number(BigInt(units) / 10n ** 18n)
const toText = (encoded: string): string =>
  Buffer.from(encoded.slice(130), 'hex').toString().replaceAll('\0', '').trim()

describe('seedChain', () => {
  test('mines the expected blocks, with the last one about now', async () => {
    const { number } = await getBlockHead(node.url, 'latest')
    expect(Number(number)).toBe(countSeededBlocks(rounds))
    const times: number[] = []
    for (let block = 0; block <= countSeededBlocks(rounds); block++) {
      const { timestamp } = await call<{ timestamp: string }>('eth_getBlockByNumber', `0x${block.toString(16)}`, false)
      times.push(Number(timestamp))
    }
    expect(times.slice(1).map((time, index) => time - (times[index] ?? 0))).toEqual(
      Array.from({ length: countSeededBlocks(rounds) }, () => blockSeconds),
    )
    expect(Math.abs((times.at(-1) ?? 0) - startedAt)).toBeLessThanOrEqual(blockSeconds)
  })

  test('emits Transfer logs: one for the deployment, two per round', async () => {
    const transferTopic = await call<string>(
      'web3_sha3',
      `0x${Buffer.from('Transfer(address,address,uint256)').toString('hex')}`,
    )
    const logs = await call<{ topics: string[]; data: string; blockNumber: string }[]>('eth_getLogs', {
      address: token,
      fromBlock: '0x0',
      toBlock: 'latest',
      topics: [transferTopic],
    })
    expect(logs.map(({ topics, data }) => [topics[2], toTokens(data)])).toEqual([
      [`0x${word(accounts[0] ?? '')}`, tokenSupply],
      [`0x${word(accounts[1] ?? '')}`, 100],
      [`0x${word(accounts[2] ?? '')}`, 50],
      [`0x${word(accounts[1] ?? '')}`, 200],
      [`0x${word(accounts[2] ?? '')}`, 100],
    ])
  })

  test('the token is a complete ERC-20 at a known address', async () => {
    expect(token).toBe(exampleToken.address)
    expect(toText(await readToken('0x06fdde03'))).toBe(exampleToken.name)
    expect(toText(await readToken('0x95d89b41'))).toBe(exampleToken.symbol)
    expect(Number(await readToken('0x313ce567'))).toBe(exampleToken.decimals)
    const approve = `0x095ea7b3${word(accounts[1] ?? '')}${word('7')}`
    await call('eth_sendTransaction', { from: accounts[0], to: token, data: approve })
    expect(Number(await readToken(`0xdd62ed3e${word(accounts[0] ?? '')}${word(accounts[1] ?? '')}`))).toBe(7)
  })

  test('the token stores balances', async () => {
    const balances = accounts.slice(0, 4).map((account) => readToken(`0x70a08231${word(account)}`))
    expect((await Promise.all(balances)).map(toTokens)).toEqual([tokenSupply - 450, 300, 150, 0])
    expect(toTokens(await readToken('0x18160ddd'))).toBe(tokenSupply)
  })

  test('mines a block of three transactions, an empty block, and a reverted transaction', async () => {
    const counts: number[] = []
    for (let block = 1; block <= 6; block++) {
      const tag = `0x${block.toString(16)}`
      counts.push((await call<{ transactions: string[] }>('eth_getBlockByNumber', tag, false)).transactions.length)
    }
    expect(counts).toEqual([1, 1, 3, 1, 0, 1])
    const block = await call<{ transactions: [string] }>('eth_getBlockByNumber', '0x6', false)
    const receipt = await call<{ status: string }>('eth_getTransactionReceipt', block.transactions[0])
    expect(receipt.status).toBe('0x0')
  })

  test('the token reverts with a custom error for an insufficient balance', async () => {
    const selector = (
      await call<string>(
        'web3_sha3',
        `0x${Buffer.from('InsufficientBalance(address,uint256,uint256)').toString('hex')}`,
      )
    ).slice(0, 10)
    const response = await fetch(node.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_call',
        params: [{ from: accounts[3], to: token, data: transferCall(accounts[0] ?? '', 1) }, 'latest'],
      }),
    })
    expect(await response.json()).toMatchObject({ error: { code: 3, data: expect.stringMatching(`^${selector}`) } })
  })

  test('the token reverts without data for an unknown method', async () => {
    await expect(callNode(node.url, 'eth_call', [{ to: token, data: '0xdeadbeef' }, 'latest'])).rejects.toThrow(
      /revert/,
    )
  })

  test('on a fork, deploys the token after the last block, from accounts without code', async () => {
    const first = accounts[1] ?? ''
    const before = await getBlockHead(node.url, 'latest')
    await callNode(node.url, 'anvil_setCode', [first, '0xfe'])
    const fork = { url: node.url, block: Number(before.number) }
    const forked = await startNode({ name: 'fork', chainId: 1952805748, folder, fork })
    try {
      const address = await seedChain(forked.url, 1, { isFork: true })
      expect(await callNode(forked.url, 'eth_getCode', [first, 'latest'])).toBe('0x')
      expect(address).not.toBe(token)
      for (const own of [token, address])
        expect(await callNode(forked.url, 'eth_getCode', [own, 'latest'])).not.toBe('0x')
      expect(await getBlockHead(forked.url, before.number)).toEqual(before)
      expect(Number((await getBlockHead(forked.url, 'latest')).number)).toBe(Number(before.number) + 5)
      const own = await getBlockHead(node.url, 'latest')
      expect(own).toEqual(before)
    } finally {
      await forked.stop()
      await callNode(node.url, 'anvil_setCode', [first, '0x'])
    }
  })

  test('a later transaction is mined immediately, at the real time', async () => {
    const before = Number((await getBlockHead(node.url, 'latest')).number)
    await call('eth_sendTransaction', { from: accounts[0], to: accounts[1], value: '0x1' })
    await expect.poll(async () => Number((await getBlockHead(node.url, 'latest')).number)).toBe(before + 1)
    const { timestamp } = await call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false)
    expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(blockSeconds)
  })
})
