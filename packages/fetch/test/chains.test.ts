import { chains } from '@keyrail/vectors'
import type { ErrorFixture, ResultFixture } from '@keyrail/vectors'
import { afterAll, describe, expect, test } from 'vitest'
import { createClient, getBlock, getTransaction, getTransactionReceipt } from '../src/index.ts'
import { startCountingServer } from './countingServer.ts'
import { repeatByte } from '@keyrail/core/test/wire.ts'

const server = await startCountingServer()
afterAll(() => server.close())

const hash = repeatByte('a1', 32)

/** Reads a fixture as an app does: through a client, from a node that sends it. */
const read = async ({ kind, result }: ResultFixture): Promise<Readonly<Record<string, unknown>>> => {
  server.respond = () => result
  const client = createClient({ url: server.url })
  const transactions = (result['transactions'] ?? []) as readonly unknown[]
  const includeTransactions = typeof transactions[0] === 'object'
  const decoded =
    kind === 'block'
      ? await getBlock(client, { block: hash, includeTransactions })
      : await (kind === 'transaction' ? getTransaction : getTransactionReceipt)(client, { hash })
  return decoded as unknown as Readonly<Record<string, unknown>>
}

const hasFields: Readonly<Record<ResultFixture['kind'], readonly string[]>> = {
  block: ['hash', 'number', 'parentHash', 'timestamp', 'miner', 'gasUsed', 'stateRoot', 'uncles', 'transactions'],
  transaction: ['hash', 'type', 'typeNumber', 'from', 'nonce', 'gas', 'value', 'input', 'blockHash', 'blockNumber'],
  receipt: ['transactionHash', 'type', 'typeNumber', 'status', 'blockNumber', 'from', 'gasUsed', 'logs', 'logsBloom'],
}

const cases = chains.flatMap(({ chain, client, fixtures }) =>
  fixtures.map((fixture) => ({ ...fixture, title: `${chain} (${client}): ${fixture.name}` })),
)
const results = cases.filter((fixture): fixture is ResultFixture & { title: string } => fixture.kind !== 'error')
const errors = cases.filter((fixture): fixture is ErrorFixture & { title: string } => fixture.kind === 'error')

describe('responses of nodes of other chains are decoded', () => {
  test.each(results)('$title', async (fixture) => {
    const { kind, result, extra, lacks } = fixture
    const decoded = await read(fixture)
    for (const name of hasFields[kind]) expect(decoded[name], name).toBeDefined()
    for (const name of extra) expect(decoded[name], name).toEqual(result[name])
    for (const name of lacks) expect(result, name).not.toHaveProperty(name)
    // No member is lost, and no member that is missing is invented, apart from an empty list.
    for (const name of Object.keys(result)) expect(decoded, name).toHaveProperty(name)
    if (kind === 'block') for (const name of lacks) expect(decoded[name]).toEqual(name === 'uncles' ? [] : undefined)
  })

  test('a transaction of a type that Ethereum does not have is `other`, with its number', async () => {
    const types = new Map<string, unknown>()
    for (const fixture of results.filter(({ kind }) => kind !== 'block')) {
      const { type, typeNumber } = await read(fixture)
      types.set(String(typeNumber), type)
    }
    expect(Object.fromEntries(types)).toEqual({
      0: 'legacy',
      2: 'eip1559',
      [0x68]: 'other',
      [0x69]: 'other',
      [0x6a]: 'other',
      [0x71]: 'other',
      [0x7b]: 'other',
      [0x7e]: 'other',
    })
  })

  test('an access list that a node leaves out is empty, and the parity is that of v', async () => {
    const [without] = results.filter(({ lacks }) => lacks.includes('accessList'))
    expect(await read(without as ResultFixture)).toMatchObject({ type: 'eip1559', accessList: [], yParity: 0 })
  })

  test('a block with full transactions of another chain has them decoded', async () => {
    const [full] = results.filter(
      ({ result }) => typeof (result['transactions'] as unknown[] | undefined)?.[0] === 'object',
    )
    expect(await read(full as ResultFixture)).toMatchObject({
      transactions: [{ type: 'legacy', chainId: 280, nonce: 886_396, gas: 30_000_000n }],
    })
  })
})

describe('errors of other clients have the right kind', () => {
  test.each(errors)('$title', async ({ method, error, expect: kind }) => {
    server.error = error
    const client = createClient({ url: server.url })
    await expect(client.request({ method, params: [] } as never)).rejects.toMatchObject({ kind, rpcError: error })
  })
})
