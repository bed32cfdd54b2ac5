import type { Hex } from '@keyrail/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  call,
  createClient,
  decodeTransaction,
  estimateGas,
  getBalance,
  getBlock,
  getBlockNumber,
  getChainId,
  getCode,
  getFeeHistory,
  getGasPrice,
  getLogs,
  getStorageAt,
  getTransaction,
  getTransactionCount,
  getTransactionReceipt,
  sendRawTransaction,
  waitForTransactionReceipt,
} from '../src/index.ts'
import type { Client, LogRangeQuery, TransactionReceipt } from '../src/index.ts'
import { emitterCode, emitterInitCode, toWord } from './emitter.ts'
import type { AnvilRpc } from './nodeMethods.ts'
import { startAnvil } from '@keyrail/core/test/startAnvil.ts'
import type { Anvil } from '@keyrail/core/test/startAnvil.ts'
import { getError } from '@keyrail/core/test/getFailure.ts'

// Every value is compared with the same node's response on the wire.
let anvil: Anvil
let client: Client<AnvilRpc>
let from: Hex
let to: Hex
let emitter: Hex
let made: Hex
const hashes = {} as Record<'legacy' | 'eip2930' | 'eip1559' | 'eip7702', Hex>
let lastEmit: Hex

/** Sends a transaction and waits until it is mined: anvil returns the hash a little earlier. */
const send = async (more: object): Promise<Hex> => {
  const hash = await client.eth_sendTransaction({ from, ...more })
  await waitForTransactionReceipt(client, { hash, pollingIntervalMs: 10 })
  return hash
}

const received = async (hash: Hex): Promise<TransactionReceipt> => {
  const receipt = await getTransactionReceipt(client, { hash })
  if (!receipt) throw new Error(`no receipt of ${hash}`)
  return receipt
}

const invalidRequest = expect.objectContaining({ kind: 'invalidRequest', source: 'client' })

beforeAll(async () => {
  anvil = await startAnvil('--chain-id', '4242')
  client = createClient<AnvilRpc>({ url: anvil.url, retry: false })
  const accounts = await client.eth_accounts()
  from = accounts[0] as Hex
  to = accounts[1] as Hex
  const fees = { maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x3b9aca00' }
  const accessList = [{ address: to, storageKeys: [toWord(1)] }]
  hashes.legacy = await send({ to, value: '0x7', gasPrice: '0x77359400' })
  hashes.eip2930 = await send({ to, value: '0x7', type: '0x1', gasPrice: '0x77359400', accessList })
  hashes.eip1559 = await send({ to, value: '0x7', ...fees, accessList })
  const authorization = { chainId: '0x0', address: to, nonce: '0xffffffffffffffff', yParity: '0x1', r: '0x1', s: '0x2' }
  hashes.eip7702 = await send({
    to,
    value: '0x7',
    ...fees,
    type: '0x4',
    gas: '0x30000',
    authorizationList: [authorization],
  })
  made = await send({ data: emitterInitCode })
  emitter = (await received(made)).contractAddress as Hex
  for (const word of [1, 2, 3]) lastEmit = await send({ to: emitter, data: toWord(word), gas: '0x30000' })
})
afterAll(async () => {
  client.close()
  await anvil.stop()
})

describe('of the chain', () => {
  test('getBlockNumber, getChainId, getGasPrice', async () => {
    expect(await getBlockNumber(client)).toBe(8n)
    expect(await client.eth_blockNumber()).toBe('0x8')
    expect(await getChainId(client)).toBe(4242)
    expect(await getGasPrice(client)).toBe(BigInt(await client.eth_gasPrice()))
  })

  test('getFeeHistory', async () => {
    const wire = await client.eth_feeHistory('0x4', 'latest', [10, 90])
    const history = await getFeeHistory(client, { blockCount: 4, rewardPercentiles: [10, 90] })
    expect(history).toMatchObject({
      oldestBlock: 5n,
      baseFeePerGas: wire.baseFeePerGas.map(BigInt),
      gasUsedRatio: wire.gasUsedRatio,
      reward: wire.reward?.map((row) => row.map(BigInt)),
    })
    expect(history.baseFeePerGas).toHaveLength(5)
    expect(history.reward).toHaveLength(4)
    expect((await getFeeHistory(client, { blockCount: 2n, newestBlock: 3n })).oldestBlock).toBe(2n)
    await expect(getFeeHistory(client, { blockCount: 1.5 })).rejects.toEqual(invalidRequest)
  })
})

describe('getBlock', () => {
  test('returns the latest block with hashes by default', async () => {
    const wire = await client.eth_getBlockByNumber('latest', false)
    const block = await getBlock(client)
    expect(block).toMatchObject({
      number: 8n,
      hash: wire?.hash,
      parentHash: wire?.parentHash,
      timestamp: BigInt(wire?.timestamp ?? ''),
      gasLimit: BigInt(wire?.gasLimit ?? ''),
      gasUsed: BigInt(wire?.gasUsed ?? ''),
      baseFeePerGas: BigInt(wire?.baseFeePerGas ?? ''),
      size: Number(wire?.size),
      logsBloom: wire?.logsBloom,
      withdrawals: [],
      transactions: [lastEmit],
    })
  })

  test('finds the same one by number, tag and hash', async () => {
    const block = await getBlock(client, { block: 8n })
    expect(block).not.toBeNull()
    expect(await getBlock(client, { block: 8 })).toEqual(block)
    expect(await getBlock(client, { block: 'latest' })).toEqual(block)
    expect(await getBlock(client, { block: '0x8' })).toEqual(block)
    expect(await getBlock(client, { block: block?.hash as Hex })).toEqual(block)
    expect((await getBlock(client, { block: 'earliest' }))?.number).toBe(0n)
  })

  test('returns full transactions with includeTransactions', async () => {
    const block = await getBlock(client, { block: 1n, includeTransactions: true })
    expect(block?.transactions).toEqual([await getTransaction(client, { hash: hashes.legacy })])
    const byHash = await getBlock(client, { block: block?.hash as Hex, includeTransactions: true })
    expect(byHash).toEqual(block)
  })

  test('returns the pending block', async () => {
    expect(await getBlock(client, { block: 'pending' })).toMatchObject({ number: 9n, transactions: [] })
    expect(await getBlock(client, { block: 'pending', includeTransactions: true })).toMatchObject({ number: 9n })
  })

  test('returns null if there is none', async () => {
    expect(await getBlock(client, { block: 1_000_000n })).toBeNull()
    expect(await getBlock(client, { block: toWord(1), includeTransactions: true })).toBeNull()
  })

  test('rejects an invalid block', async () => {
    await expect(getBlock(client, { block: -1 })).rejects.toEqual(invalidRequest)
    await expect(getBlock(client, { block: 2 ** 53 })).rejects.toThrow('bigint')
    await expect(getBlock(client, { block: 'newest' as 'latest' })).rejects.toThrow('latest, safe')
  })
})

describe('getTransaction', () => {
  test.each(['legacy', 'eip2930', 'eip1559', 'eip7702'] as const)('returns one of type %s', async (type) => {
    const wire = await client.eth_getTransactionByHash(hashes[type])
    const transaction = await getTransaction(client, { hash: hashes[type] })
    expect(transaction).toMatchObject({
      type,
      typeNumber: Number(wire?.type),
      hash: hashes[type],
      from,
      to,
      value: 7n,
      nonce: Number(wire?.nonce),
      gas: BigInt(wire?.gas ?? ''),
      blockHash: wire?.blockHash,
      blockNumber: BigInt(wire?.blockNumber ?? ''),
      transactionIndex: 0,
      r: BigInt(wire?.r ?? ''),
      s: BigInt(wire?.s ?? ''),
    })
  })

  test('returns the fields of each type', async () => {
    const accessList = [{ address: to, storageKeys: [toWord(1)] }]
    expect(await getTransaction(client, { hash: hashes.eip2930 })).toMatchObject({
      chainId: 4242,
      gasPrice: 2n * 10n ** 9n,
      accessList,
    })
    const fees = { maxFeePerGas: 2n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 9n }
    expect(await getTransaction(client, { hash: hashes.eip1559 })).toMatchObject({ chainId: 4242, accessList, ...fees })
    expect(await getTransaction(client, { hash: hashes.eip7702 })).toMatchObject({
      ...fees,
      authorizationList: [{ chainId: 0n, address: to, nonce: 2n ** 64n - 1n, yParity: 1, r: 1n, s: 2n }],
    })
  })

  test('returns one that creates a contract', async () => {
    expect(await getTransaction(client, { hash: made })).toMatchObject({ to: null, input: emitterInitCode })
  })

  test('returns null for an unknown hash, and rejects an invalid one', async () => {
    expect(await getTransaction(client, { hash: toWord(1) })).toBeNull()
    await expect(getTransaction(client, { hash: '0x1' })).rejects.toEqual(invalidRequest)
  })

  test('has a decoder for results of other methods', async () => {
    const wire = await client.eth_getTransactionByBlockNumberAndIndex('0x3', '0x0')
    expect(decodeTransaction(wire)).toEqual(await getTransaction(client, { hash: hashes.eip1559 }))
  })
})

describe('getTransactionReceipt', () => {
  test('returns its receipt', async () => {
    const wire = await client.eth_getTransactionReceipt(hashes.eip1559)
    expect(await received(hashes.eip1559)).toMatchObject({
      type: 'eip1559',
      status: 'success',
      transactionHash: hashes.eip1559,
      blockNumber: 3n,
      blockHash: wire?.blockHash,
      from,
      to,
      contractAddress: null,
      gasUsed: BigInt(wire?.gasUsed ?? ''),
      cumulativeGasUsed: BigInt(wire?.cumulativeGasUsed ?? ''),
      effectiveGasPrice: BigInt(wire?.effectiveGasPrice ?? ''),
      logs: [],
      logsBloom: wire?.logsBloom,
    })
  })

  test('has the created contract and the emitted logs', async () => {
    expect(await received(made)).toMatchObject({ to: null, contractAddress: emitter })
    const { logs, blockHash } = await received(lastEmit)
    expect(logs).toEqual(await getLogs(client, { blockHash }))
  })

  test('reports a reverted transaction', async () => {
    const snapshot = await client.evm_snapshot()
    const hash = await send({ to: emitter, data: toWord(0), gas: '0x30000' })
    expect(await received(hash)).toMatchObject({ status: 'reverted', logs: [] })
    await client.evm_revert(snapshot)
  })

  test('returns null for an unknown one', async () => {
    expect(await getTransactionReceipt(client, { hash: toWord(1) })).toBeNull()
  })
})

describe('of an account', () => {
  test('getBalance, now and then, by number and by hash', async () => {
    const blockHash = (await getBlock(client, { block: 1n }))?.hash as Hex
    expect(await getBalance(client, { address: to })).toBe(BigInt(await client.eth_getBalance(to, 'latest')))
    const rich = 10_000n * 10n ** 18n
    expect(await getBalance(client, { address: to, block: 0n })).toBe(rich)
    expect(await getBalance(client, { address: to, block: 1 })).toBe(rich + 7n)
    expect(await getBalance(client, { address: to, block: blockHash })).toBe(rich + 7n)
    expect(await getBalance(client, { address: to, block: 4n })).toBe(rich + 28n)
  })

  test('getTransactionCount', async () => {
    expect(await getTransactionCount(client, { address: from, block: 5n })).toBe(5)
    expect(await getTransactionCount(client, { address: from })).toBe(
      Number(await client.eth_getTransactionCount(from, 'latest')),
    )
    expect(await getTransactionCount(client, { address: to })).toBe(0)
  })

  test('getCode', async () => {
    expect(await getCode(client, { address: emitter })).toBe(emitterCode)
    expect(await getCode(client, { address: emitter, block: 1n })).toBe('0x')
    expect(await getCode(client, { address: to })).toBe('0x')
  })

  test('getStorageAt, by number and by word', async () => {
    expect(await getStorageAt(client, { address: emitter, slot: 0n, block: 8n })).toBe(toWord(3))
    expect(await getStorageAt(client, { address: emitter, slot: 0, block: 6 })).toBe(toWord(1))
    expect(await getStorageAt(client, { address: emitter, slot: toWord(0), block: 8n })).toBe(toWord(3))
    expect(await getStorageAt(client, { address: emitter, slot: 2n ** 256n - 1n })).toBe(toWord(0))
    await expect(getStorageAt(client, { address: emitter, slot: -1n })).rejects.toEqual(invalidRequest)
    await expect(getStorageAt(client, { address: emitter, slot: '0x0' })).rejects.toEqual(invalidRequest)
  })

  test('rejects a name instead of an address', async () => {
    const address = 'name.eth' as Hex
    for (const read of [getBalance, getTransactionCount, getCode])
      await expect(read(client, { address })).rejects.toThrow('resolve a name')
  })
})

describe('call', () => {
  test('runs a contract, now and then', async () => {
    expect(await call(client, { to: emitter })).toBe(toWord(3))
    expect(await call(client, { to: emitter, block: 6n })).toBe(toWord(1))
    expect(await call(client, { to: emitter, from, gas: 100_000, value: 0n, nonce: 1, block: 'latest' })).toBe(
      toWord(3),
    )
  })

  test('returns 0x for an account without code', async () => {
    expect(await call(client, { to })).toBe('0x')
  })

  test('runs init code if there is no to', async () => {
    expect(await call(client, { data: emitterInitCode })).toBe(emitterCode)
    expect(await call(client, { to: null, data: emitterInitCode })).toBe(emitterCode)
  })

  test('fails as a revert if the contract reverts', async () => {
    await expect(call(client, { to: emitter, data: toWord(0) })).rejects.toMatchObject({
      kind: 'revert',
      retryable: false,
    })
  })

  test('rejects a wrong field by name', async () => {
    await expect(call(client, { to: emitter, value: 0.1 })).rejects.toThrow('value must be a whole number')
    await expect(call(client, { to: emitter, data: '0x1' })).rejects.toThrow('data must be')
    await expect(call(client, { to: '0x1' })).rejects.toThrow('to must be')
  })
})

describe('estimateGas', () => {
  test('returns the gas that a transaction needs', async () => {
    expect(await estimateGas(client, { from, to, value: 1n })).toBe(21_000n)
    const wire = await client.eth_estimateGas({ from, to: emitter, data: toWord(9) }, 'latest')
    expect(await estimateGas(client, { from, to: emitter, data: toWord(9), block: 'latest' })).toBe(BigInt(wire))
  })

  test('accepts an access list and authorizations', async () => {
    const accessList = [{ address: to, storageKeys: [toWord(1)] }]
    expect(await estimateGas(client, { from, to, accessList })).toBeGreaterThan(21_000n)
    const authorizationList = [{ chainId: 0n, address: to, nonce: 2n ** 64n - 1n, yParity: 1, r: 1n, s: 2n }]
    expect(await estimateGas(client, { from, to, authorizationList })).toBeGreaterThan(21_000n)
  })

  test('fails as a revert if the transaction would revert', async () => {
    await expect(estimateGas(client, { from, to: emitter, data: toWord(0) })).rejects.toMatchObject({ kind: 'revert' })
  })
})

describe('getLogs', () => {
  const caller = (): Hex => toWord(BigInt(from))
  const all = { fromBlock: 0n, toBlock: 8n } as const

  test('returns them decoded and in order', async () => {
    const [wire] = await client.eth_getLogs({ fromBlock: '0x8', toBlock: '0x8' })
    const logs = await getLogs(client, all)
    expect(logs.map((log) => [log.blockNumber, log.data])).toEqual([
      [6n, toWord(1)],
      [7n, toWord(2)],
      [8n, toWord(3)],
    ])
    expect(logs[2]).toEqual({
      address: emitter,
      topics: [toWord(0xaa), caller()],
      data: toWord(3),
      blockHash: wire?.blockHash,
      blockNumber: 8n,
      blockTimestamp: BigInt(wire?.blockTimestamp ?? ''),
      transactionHash: lastEmit,
      transactionIndex: 0,
      logIndex: 0,
      removed: false,
    })
  })

  const countLogs = async (more: Partial<LogRangeQuery>): Promise<number> =>
    (await getLogs(client, { ...all, ...more })).length

  test('finds by contract, by topics, by range and by block', async () => {
    expect(await countLogs({ address: emitter })).toBe(3)
    expect(await countLogs({ address: [to, emitter] })).toBe(3)
    expect(await countLogs({ address: to })).toBe(0)
    expect(await countLogs({ topics: [toWord(0xaa)] })).toBe(3)
    expect(await countLogs({ topics: [[toWord(0xbb), toWord(0xaa)], caller()] })).toBe(3)
    expect(await countLogs({ topics: [null, caller()] })).toBe(3)
    expect(await countLogs({ topics: [null, toWord(0xaa)] })).toBe(0)
    expect(await countLogs({ fromBlock: 7, toBlock: 'latest' })).toBe(2)
    const blockHash = (await getBlock(client, { block: 7n }))?.hash as Hex
    expect((await getLogs(client, { blockHash })).map((log) => log.data)).toEqual([toWord(2)])
  })

  test('rejects a wrong range or contract', async () => {
    await expect(countLogs({ fromBlock: -1n })).rejects.toThrow('fromBlock')
    await expect(countLogs({ toBlock: 0.5 })).rejects.toThrow('toBlock')
    await expect(countLogs({ address: ['name.eth' as Hex] })).rejects.toThrow('address')
    await expect(countLogs({ topics: ['0x12'] })).rejects.toThrow('topics must be 0x and 64 hex digits')
  })

  test.each([
    [9n, 2n],
    [9, 2n],
    [2n ** 53n + 1n, 2n ** 53n],
  ])('rejects a range that ends before it starts: %s to %s', async (fromBlock, toBlock) => {
    const failure = await getLogs(client, { fromBlock, toBlock }).catch((error: unknown) => error)
    expect(failure).toEqual(invalidRequest)
    expect(String(failure)).toContain(`fromBlock (${fromBlock}) must not be above toBlock (${toBlock})`)
  })
})

describe('a name that no option has', () => {
  const hash = toWord(1)
  const address = `0x${'00'.repeat(20)}` as const
  test.each<[string, object, (closed: Client<AnvilRpc>, options: never) => Promise<unknown>]>([
    ['getBlock', {}, getBlock],
    ['getTransaction', { hash }, getTransaction],
    ['getTransactionReceipt', { hash }, getTransactionReceipt],
    ['getBalance', { address }, getBalance],
    ['getTransactionCount', { address }, getTransactionCount],
    ['getCode', { address }, getCode],
    ['getStorageAt', { address, slot: 0 }, getStorageAt],
    ['call', { to: address }, call],
    ['estimateGas', { to: address }, estimateGas],
    ['getLogs', { address }, getLogs],
    ['getFeeHistory', { blockCount: 1 }, getFeeHistory],
    ['sendRawTransaction', { transaction: '0x02' }, sendRawTransaction],
    ['waitForTransactionReceipt', { hash }, waitForTransactionReceipt],
  ])('are rejected by %s before anything is sent', async (name, right, read) => {
    // Nothing listens there, so a call that is sent fails with another kind.
    const nobody = createClient<AnvilRpc>({ url: 'http://127.0.0.1:1', retry: false, timeoutMs: 2_000 })
    const readAndFail = (options: object): Promise<unknown> => getError(read(nobody, options as never))
    const failure = await readAndFail({ ...right, xyz: 5n })
    expect(failure).toEqual(invalidRequest)
    expect(String(failure)).toContain(`Unknown option "xyz". The options of ${name} are `)
    if (name !== 'waitForTransactionReceipt') expect(await readAndFail(right)).not.toEqual(invalidRequest)
    nobody.close()
  })
})

describe('sendRawTransaction', () => {
  test('sends a signed transaction and returns its hash', async () => {
    const fees = { gas: '0x5208', maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x1' } as const
    const nonce = await client.eth_getTransactionCount(from, 'pending')
    // Anvil returns only the bytes, instead of the object in the specification.
    const signed: unknown = await client.eth_signTransaction({
      from,
      to,
      value: '0x1',
      nonce,
      chainId: '0x1092',
      ...fees,
    })
    const hash = await sendRawTransaction(client, { transaction: signed as Hex })
    expect(await waitForTransactionReceipt(client, { hash, pollingIntervalMs: 10 })).toMatchObject({
      status: 'success',
      transactionHash: hash,
    })
    await expect(sendRawTransaction(client, { transaction: signed as Hex })).rejects.toMatchObject({ source: 'node' })
  })

  test('rejects an invalid transaction, before sending or at the node', async () => {
    await expect(sendRawTransaction(client, { transaction: '0x1' })).rejects.toEqual(invalidRequest)
    await expect(sendRawTransaction(client, { transaction: '0x00' })).rejects.toMatchObject({ source: 'node' })
  })
})
