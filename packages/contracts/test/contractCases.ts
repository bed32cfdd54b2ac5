import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  manyEventsAbi,
  manyEventsBytecode,
  offchainReaderAbi,
  offchainReaderBytecode,
  revertsAbi,
  revertsBytecode,
  tokenAbi,
  tokenBytecode,
} from '../src/index.ts'
import type { ContractClient, ContractSubject, DecodedFailure, Deployed, Hex, SeenEvent } from './contractClient.ts'
import { startLookupGateway } from './startLookupGateway.ts'
import type { LookupGateway } from './startLookupGateway.ts'
import { startService } from './startService.ts'
import type { Service } from './startService.ts'

const token = { abi: tokenAbi, bytecode: tokenBytecode }
const reverts = { abi: revertsAbi, bytecode: revertsBytecode }
const manyEvents = { abi: manyEventsAbi, bytecode: manyEventsBytecode }
const offchainReader = { abi: offchainReaderAbi, bytecode: offchainReaderBytecode }

const supply = 10n ** 24n
const highest = 2n ** 256n - 1n
const nobody: Hex = `0x${'00'.repeat(20)}`
const friend: Hex = `0x${'ab'.repeat(20)}`
const run: Hex = `0x${'5e'.repeat(32)}`
const answer: Hex = `0x${'a1'.repeat(40)}`
const question: Hex = `0x${'9a'.repeat(32)}`

/** Reads that fail, each with the expected decoded failure. */
const failingReads: readonly (readonly [what: string, name: string, args: readonly unknown[], DecodedFailure])[] = [
  [
    'a custom error with arguments',
    'custom',
    [friend, 2n ** 200n, 'not you'],
    { as: 'custom', name: 'Unauthorized', args: [friend, 2n ** 200n, 'not you'] },
  ],
  ['a custom error without arguments', 'customEmpty', [], { as: 'custom', name: 'Closed', args: [] }],
  ['the reason of a require', 'reason', [0n], { as: 'reason', reason: 'value must not be zero' }],
  ['a revert without data', 'bare', [], { as: 'bare' }],
  ['the panic of an assert', 'asserts', [0n], { as: 'panic', code: 0x01n }],
  ['the panic of an overflow', 'overflows', [highest], { as: 'panic', code: 0x11n }],
  ['the panic of a division by zero', 'divides', [7n, 0n], { as: 'panic', code: 0x12n }],
  ['the panic of an index out of bounds', 'item', [3n], { as: 'panic', code: 0x32n }],
]

/**
 * Registers the contract tests of an adapter, against a real node behind the real service. All adapters run the same tests.
 *
 * @param subject - Opens the library, and lists the features that it does not have.
 */
export function contractCases({ open, cannot = {} }: ContractSubject): void {
  let service: Service
  let lookup: LookupGateway
  let client: ContractClient
  let tokens: Deployed
  let failing: Deployed
  let emitter: Deployed

  const ownKey = (): Hex => `0x${randomBytes(32).toString('hex')}`
  const richClient = async (address: Service['app'] | Service['key']): Promise<ContractClient> => {
    const opened = await open(address, ownKey())
    await service.node('anvil_setBalance', [opened.address, `0x${(10n ** 22n).toString(16)}`])
    return opened
  }
  const getFailure = async (call: Promise<unknown>): Promise<unknown> => {
    let value: unknown
    try {
      value = await call
    } catch (error) {
      return error
    }
    throw new Error(`did not fail: ${String(value)}`)
  }
  const getDecodedFailure = async (call: Promise<unknown>, contract: Deployed): Promise<DecodedFailure | undefined> =>
    client.decodeFailure(await getFailure(call), contract)
  const automine = (on: boolean): Promise<unknown> => service.node('evm_setAutomine', [on])
  const emitMany = async (many: bigint, note = 'x'): Promise<bigint> => {
    const { blockNumber, status } = await (await client.write(emitter, 'emitMany', [many, run, note])).mined()
    expect(status).toBe('success')
    return blockNumber
  }

  beforeAll(async () => {
    service = await startService()
    lookup = await startLookupGateway(answer)
    client = await richClient(service.app)
    tokens = await client.deploy(token, ['Keyrail', 'RAIL', supply])
    failing = await client.deploy(reverts, [])
    emitter = await client.deploy(manyEvents, [])
  })
  afterAll(async () => {
    client?.close()
    await lookup?.close()
    await service?.stop()
  })

  test('transactions are signed locally and sent raw', () => {
    expect(service.methods.filter((method) => method === 'eth_sendRawTransaction')).toHaveLength(3)
    // The log has rejected methods as `other`.
    expect(service.methods.filter((method) => /sendTransaction|accounts|sign|other|none/.test(method))).toEqual([])
  })

  describe('a token', () => {
    test('can be read: text, a small number, numbers above 2^53, a boolean', async () => {
      expect(await client.read(tokens, 'name')).toBe('Keyrail')
      expect(await client.read(tokens, 'decimals')).toBe(18n)
      expect(await client.read(tokens, 'totalSupply')).toBe(supply)
      expect(await client.read(tokens, 'balanceOf', [client.address])).toBe(supply)
      expect(await client.read(tokens, 'transfer', [friend, 1n])).toBe(true)
    })

    test('can be written to, and the receipt has the decoded event', async () => {
      const value = 2n ** 60n + 1n
      const sent = await client.write(tokens, 'transfer', [friend, value])
      expect(sent.hash).toMatch(/^0x[\da-f]{64}$/)
      const { status, events, blockNumber, gasUsed } = await sent.mined()
      expect(status).toBe('success')
      expect(gasUsed).toBeGreaterThan(21_000n)
      expect(events).toEqual([
        { name: 'Transfer', args: { from: client.address, to: friend, value }, blockNumber, logIndex: 0 },
      ])
      expect(await client.read(tokens, 'balanceOf', [friend])).toBe(value)
    })

    test('accepts values above 2^53 wei', async () => {
      const valueWei = 2n ** 66n + 7n
      const before = (await client.read(tokens, 'totalSupply')) as bigint
      const { events } = await (await client.write(tokens, 'deposit', [], { valueWei })).mined()
      expect(events).toMatchObject([{ name: 'Transfer', args: { from: nobody, to: client.address, value: valueWei } }])
      expect(await client.read(tokens, 'totalSupply')).toBe(before + valueWei)
      expect(await client.balance(tokens.address)).toBe(valueWei)
    })

    test('has events that can be filtered by indexed parameters', async () => {
      const here = await client.blockNumber()
      const { blockNumber } = await (await client.write(tokens, 'approve', [friend, highest])).mined()
      await (await client.write(tokens, 'approve', [nobody, 1n])).mined()
      const range = { fromBlock: here + 1n, toBlock: here + 2n }
      expect(await client.events(tokens, 'Approval', { ...range, where: { spender: friend } })).toEqual([
        {
          name: 'Approval',
          args: { owner: client.address, spender: friend, value: highest },
          blockNumber,
          logIndex: 0,
        },
      ])
      expect(await client.events(tokens, 'Approval', range)).toHaveLength(2)
      expect(await client.events(tokens, 'Transfer', range)).toEqual([])
    })
  })

  test('a transfer of more than 2^53 wei succeeds', async () => {
    const to: Hex = `0x${randomBytes(20).toString('hex')}`
    const valueWei = 2n ** 61n + 3n
    expect(await (await client.sendValue(to, valueWei)).mined()).toMatchObject({
      status: 'success',
      gasUsed: 21_000n,
    })
    expect(await client.balance(to)).toBe(valueWei)
  })

  test('writes in quick succession have consecutive nonces and are mined in one block', async () => {
    const nonce = Number(await service.node('eth_getTransactionCount', [client.address, 'latest']))
    await automine(false)
    let sent
    try {
      sent = await client.writeAll(tokens, 'approve', [
        [friend, 1n],
        [friend, 2n],
        [friend, 3n],
      ])
      const nonces = await Promise.all(
        sent.map(async ({ hash }) => {
          const found = (await service.node('eth_getTransactionByHash', [hash])) as { nonce: Hex; blockHash: null }
          expect(found.blockHash).toBeNull()
          return Number(found.nonce)
        }),
      )
      expect(nonces).toEqual([nonce, nonce + 1, nonce + 2])
      await service.node('evm_mine')
    } finally {
      await automine(true)
    }
    const ends = await Promise.all(sent.map(({ mined }) => mined()))
    expect(ends.map(({ status }) => status)).toEqual(['success', 'success', 'success'])
    expect(new Set(ends.map(({ blockNumber }) => blockNumber)).size).toBe(1)
    expect(await client.read(tokens, 'allowance', [client.address, friend])).toBe(3n)
  })

  test('waits until a write is mined', async () => {
    await automine(false)
    try {
      const sent = await client.write(tokens, 'approve', [friend, 9n])
      let isMined = false
      const mined = sent.mined().then((end) => {
        isMined = true
        return end
      })
      // The client looks for the receipt at least once without finding it.
      const callsBefore = service.methods.length
      await expect.poll(() => service.methods.length).toBeGreaterThan(callsBefore)
      expect(isMined).toBe(false)
      // Blocks follow, as on a network: a library that looks at one block while the next one arrives looks again at the one after.
      await expect
        .poll(async () => {
          if (!isMined) await service.node('evm_mine')
          return isMined
        })
        .toBe(true)
      expect((await mined).status).toBe('success')
    } finally {
      await automine(true)
    }
  })

  describe('events', () => {
    test('of one transaction are decoded and in order, with indexed and other parameters', async () => {
      const first = (await client.read(emitter, 'count')) as bigint
      const blockNumber = await emitMany(40n, 'grüße')
      const events = await client.events(emitter, 'Counted', { fromBlock: blockNumber, toBlock: blockNumber })
      expect(events).toHaveLength(40)
      expect(events[39]).toEqual({
        name: 'Counted',
        args: { index: first + 39n, by: client.address, run, note: 'grüße', below: -(first + 39n) },
        blockNumber,
        logIndex: 39,
      })
      expect(events.map(({ args }) => args['index'])).toEqual(Array.from({ length: 40 }, (_, i) => first + BigInt(i)))
    })

    test('of a range include those of the first and the last block', async () => {
      const blocks = [await emitMany(2n), await emitMany(3n), await emitMany(4n)] as const
      const counted = async (fromBlock: bigint, toBlock: bigint): Promise<number> =>
        (await client.events(emitter, 'Counted', { fromBlock, toBlock })).length
      expect(await counted(blocks[0], blocks[2])).toBe(9)
      expect(await counted(blocks[1], blocks[2])).toBe(7)
      expect(await counted(blocks[1], blocks[1])).toBe(3)
    })

    test('can be watched by polling', async () => {
      const seen: SeenEvent[] = []
      const watching = client.watch(emitter, 'Counted', (event) => void seen.push(event))
      if (cannot.watch) {
        await expect(watching).rejects.toThrow(cannot.watch)
        return
      }
      const stop = await watching
      const first = (await client.read(emitter, 'count')) as bigint
      await emitMany(3n)
      await emitMany(2n)
      await expect.poll(() => seen.length).toBe(5)
      stop()
      expect(seen.map(({ args }) => args['index'])).toEqual([0n, 1n, 2n, 3n, 4n].map((i) => first + i))
    })
  })

  describe('the failure of a read is decoded', () => {
    test.each(failingReads)('%s', async (_, name, args, expected) => {
      expect(await getDecodedFailure(client.read(failing, name, args), failing)).toEqual(expected)
    })

    test('but a successful read returns its value', async () => {
      expect(await client.read(failing, 'reason', [5n])).toBe(5n)
      expect(await client.read(failing, 'divides', [highest, 2n])).toBe(highest / 2n)
    })

    test('if the balance of a token is too low', async () => {
      const balance = (await client.read(tokens, 'balanceOf', [client.address])) as bigint
      expect(await getDecodedFailure(client.read(tokens, 'transfer', [friend, balance + 1n]), tokens)).toEqual({
        as: 'custom',
        name: 'InsufficientBalance',
        args: [client.address, balance, balance + 1n],
      })
    })
  })

  describe('a write that fails', () => {
    const expected = (): DecodedFailure => ({
      as: 'custom',
      name: 'Unauthorized',
      args: [client.address, 11n, 'at most 10'],
    })

    test('is decoded by its estimate, and is not sent', async () => {
      expect(await getDecodedFailure(client.estimate(failing, 'setLevel', [11n]), failing)).toEqual(expected())
      const sent = (): number => service.methods.filter((method) => method === 'eth_sendRawTransaction').length
      const before = sent()
      expect(await getDecodedFailure(client.write(failing, 'setLevel', [11n]), failing)).toEqual(expected())
      expect(sent()).toBe(before)
    })

    test('has a receipt with status reverted if it is sent anyway', async () => {
      const { status, events } = await (await client.write(failing, 'setLevel', [11n], { gas: 100_000n })).mined()
      expect({ status, events }).toEqual({ status: 'reverted', events: [] })
      expect(await client.read(failing, 'level')).toBe(0n)
    })

    test('does not affect the next nonce', async () => {
      expect((await (await client.write(failing, 'setLevel', [4n])).mined()).status).toBe('success')
      expect(await client.read(failing, 'level')).toBe(4n)
    })
  })

  test('an estimate covers the gas of the write', async () => {
    const gas = await client.estimate(tokens, 'deposit', [], { valueWei: 10n ** 18n })
    const sent = await client.write(tokens, 'deposit', [], { valueWei: 10n ** 18n, gas })
    const { status, gasUsed } = await sent.mined()
    expect(status).toBe('success')
    expect(gas).toBeGreaterThanOrEqual(gasUsed)
    expect(gas).toBeLessThan(2n * gasUsed)
  })

  describe('an offchain lookup (EIP-3668)', () => {
    const reader = (url: string): Promise<Deployed> => client.deploy(offchainReader, [[url], answer])

    test(
      cannot.lookUp
        ? 'is an OffchainLookup error: this library does not follow it'
        : 'is followed with GET and with POST',
      async () => {
        for (const [url, method] of [
          [lookup.urlOfGet, 'GET'],
          [lookup.urlOfPost, 'POST'],
        ] as const) {
          const contract = await reader(url)
          lookup.seen.length = 0
          if (cannot.lookUp) {
            expect(await getDecodedFailure(client.lookUp(contract, 'read', [question]), contract)).toMatchObject({
              as: 'custom',
              name: 'OffchainLookup',
              args: [contract.address, [url], question, expect.stringMatching(/^0x[\da-f]{8}$/), question],
            })
            expect(lookup.seen).toEqual([])
          } else {
            expect(await client.lookUp(contract, 'read', [question])).toBe(answer)
            expect(lookup.seen).toEqual([{ method, sender: contract.address, data: question }])
          }
        }
      },
    )

    if (cannot.lookUp) return
    test('fails with the contract\u2019s own error if the response is wrong', async () => {
      const contract = await reader(lookup.urlOfGet)
      lookup.answer = '0xbad0'
      try {
        expect(await getDecodedFailure(client.lookUp(contract, 'read', [question]), contract)).toEqual({
          as: 'custom',
          name: 'WrongAnswer',
          args: [question, '0xbad0'],
        })
      } finally {
        lookup.answer = answer
      }
    })
  })

  test('a contract can be read and written at the URL of an API key', async () => {
    const other = await richClient(service.key)
    try {
      const own = await other.deploy(token, ['Other', 'O', 1n])
      expect(await other.read(own, 'name')).toBe('Other')
      expect(await other.read(own, 'balanceOf', [other.address])).toBe(1n)
      expect((await (await other.write(own, 'transfer', [friend, 1n])).mined()).status).toBe('success')
    } finally {
      other.close()
    }
  })
}
