import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { StoredAnswer } from '../../src/storage/chainStore/createChainWriter.ts'
import type { LogQuery } from '../../src/storage/chainStore/logQuery.ts'
import { createModelChain, toAddress, toWord } from './modelChain.ts'
import type { LogStyle, ModelChain } from './modelChain.ts'
import { openTestFile } from './openTestFile.ts'
import type { TestFile } from './openTestFile.ts'
import { createRandom, damageRows, fuzzStore, toConfirmedStore, toFuzzedStore } from './storeFuzz.ts'

const chain = 'testnet 1'
const [busy, rare, silent] = [toAddress(1), toAddress(2), toAddress(3)] as const
const [transfer, approval, alice] = [toWord(1), toWord(2), toWord(3)] as const

/** A chain of 100 blocks: `busy` has a transfer in each, `rare` an approval in each fiftieth. */
const createChain = (): ModelChain => {
  const model = createModelChain()
  for (let number = 1; number <= 100; number += 1)
    model.mine([
      { address: busy, topics: [transfer, alice], data: '0x' },
      ...(number % 50 === 0 ? [{ address: rare, topics: [approval], data: '0x01' }] : []),
    ])
  return model
}

const toQuery = (first: number, last: number, own: Partial<LogQuery> = {}): LogQuery => ({
  first,
  last,
  addresses: [busy],
  topics: [],
  ...own,
})

const toText = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('latin1')

const add = (
  { writer }: TestFile,
  model: ModelChain,
  query: LogQuery,
  { upstream = 'one', style }: { upstream?: string; style?: LogStyle } = {},
): StoredAnswer =>
  writer.addLogs({ chain, upstream, query, result: new Uint8Array(Buffer.from(model.getLogs(query, style))) })

const read = ({ reader }: TestFile, query: LogQuery) => {
  const found = reader.readLogs(chain, query, Infinity)
  return { text: toText(found?.value), missing: found?.missing }
}

/** Adds an answer, and the same one of another node. */
const addConfirmed = (opened: TestFile, model: ModelChain, query: LogQuery): void => {
  add(opened, model, query)
  add(opened, model, query, { upstream: 'two' })
}

const countSpans = ({ file }: TestFile): unknown =>
  file.database.prepare('select count(*) as spans from spans').get()?.['spans']

describe('logs that were read before', () => {
  test('are not searched for few of them, if there are too many', () => {
    const model = createChain()
    const all = toQuery(1, 100)
    const few = toQuery(1, 100, { topics: [[approval]] })
    const bytes = model.getLogs(all).length
    const readFew = (maxScanned: number) => {
      const opened = openTestFile({ maxScanned })
      add(opened, model, all)
      // All of its own logs are found.
      expect(read(opened, all).text).toBe(model.getLogs(all))
      return opened.reader.readLogs(chain, few, Infinity)
    }
    expect(toText(readFew(bytes)?.value)).toBe('[]')
    expect(readFew(bytes - 1_000)).toBeUndefined()
  })

  test('are found by any range in them, byte for byte', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, toQuery(1, 60))
    add(opened, model, toQuery(61, 90))
    for (const query of [toQuery(1, 90), toQuery(20, 70), toQuery(5, 5)])
      expect(read(opened, query)).toEqual({ text: model.getLogs(query), missing: undefined })
  })

  test('are found by a filter of fewer addresses, and by topics of a stored address', () => {
    const [opened, model] = [openTestFile(), createChain()]
    addConfirmed(opened, model, toQuery(1, 100, { addresses: [busy, rare] }))
    for (const query of [
      toQuery(1, 100, { addresses: [rare] }),
      toQuery(1, 100, { topics: [[transfer]] }),
      toQuery(1, 100, { topics: [[approval]] }),
      toQuery(1, 100, { topics: [null, [alice]] }),
      toQuery(1, 100, { topics: [[approval, transfer], [alice]] }),
    ])
      expect(read(opened, query)).toEqual({ text: model.getLogs(query), missing: undefined })
  })

  test('leave one range to ask for: from the first missing block to the last, for the addresses that are not complete', () => {
    const [opened, model] = [openTestFile(), createChain()]
    addConfirmed(opened, model, toQuery(10, 100, { addresses: [rare] }))
    add(opened, model, toQuery(20, 40))
    add(opened, model, toQuery(50, 60))
    expect(read(opened, toQuery(10, 100, { addresses: [busy, rare] })).missing).toEqual({
      first: 10,
      last: 100,
      addresses: [busy],
    })
    expect(read(opened, toQuery(30, 55)).missing).toEqual({ first: 41, last: 49, addresses: [busy] })
  })

  test('are joined with those of a node without repeats, although the range of the node includes stored ones', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, toQuery(20, 40))
    const { text } = read(opened, toQuery(10, 60))
    const joined = opened.reader.joinResults([Buffer.from(text), Buffer.from(model.getLogs(toQuery(10, 60)))])
    expect(toText(joined as Uint8Array)).toBe(model.getLogs(toQuery(10, 60)))
  })

  test('of nodes with different members have those that all send', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, toQuery(1, 50))
    add(opened, model, toQuery(51, 100), { upstream: 'two', style: 'timestamps' })
    expect(read(opened, toQuery(60, 70)).text).toBe(model.getLogs(toQuery(60, 70), 'timestamps'))
    expect(JSON.parse(read(opened, toQuery(40, 60)).text)).toEqual(JSON.parse(model.getLogs(toQuery(40, 60))))
  })

  test('cannot be joined with those of another chain, whose blocks have other hashes', () => {
    const [opened, model, fork] = [openTestFile(), createChain(), createChain()]
    fork.rollBack(100)
    for (let number = 1; number <= 100; number += 1)
      fork.mine([{ address: busy, topics: [transfer, alice], data: '0x' }])
    const [one, other] = [model, fork].map((each) => Buffer.from(each.getLogs(toQuery(1, 9))))
    expect(opened.reader.joinResults([one, other] as Buffer[])).toBe('different')
    expect(opened.reader.joinResults([one as Buffer, Buffer.from('[{}]')])).toBeUndefined()
  })

  test('of a filter that ends with null are found by that filter only: nodes read it differently', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, toQuery(1, 100))
    expect(read(opened, toQuery(1, 100, { topics: [[transfer], null] })).missing).toBeDefined()
    add(opened, model, toQuery(1, 100, { topics: [[transfer], null] }))
    expect(read(opened, toQuery(1, 100, { topics: [[transfer], null] })).missing).toBeUndefined()
  })

  test('are not those of another chain id, and not above the last block that is final', () => {
    const [opened, model] = [openTestFile(), createChain()]
    const query = toQuery(1, 100)
    const result = new Uint8Array(Buffer.from(model.getLogs(query)))
    opened.writer.addLogs({ chain, upstream: 'one', query: { ...query, last: 80 }, answeredTo: 100, result })
    expect(read(opened, query).missing).toEqual({ first: 81, last: 100, addresses: [busy] })
    expect(opened.reader.readLogs('testnet 2', toQuery(1, 80), Infinity)?.missing).toBeDefined()
  })

  test('are not read if they have more bytes than the call may', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, toQuery(1, 100))
    expect(opened.reader.readLogs(chain, toQuery(1, 100), 1_000)).toBeUndefined()
  })
})

test.each([
  ['a log of another address', toQuery(1, 9, { addresses: [rare] })],
  ['a log without its topic', toQuery(1, 9, { topics: [[approval]] })],
  ['a log of another block', toQuery(3, 9)],
])('an answer with %s is not stored', (_, query) => {
  const [opened, model] = [openTestFile(), createChain()]
  const result = new Uint8Array(Buffer.from(model.getLogs(toQuery(1, 9))))
  expect(opened.writer.addLogs({ chain, upstream: 'one', query, result })).toBe('invalid')
  expect(read(opened, query).missing).toBeDefined()
})

test('an answer with two logs in one place is not stored, nor joined: some chains count the logs of each transaction from 0', () => {
  const opened = openTestFile()
  const toLog = (data: string, transaction: number): string =>
    JSON.stringify({
      address: busy,
      topics: [transfer],
      data,
      blockNumber: '0x5',
      blockHash: toWord(5),
      transactionHash: toWord(transaction),
      logIndex: '0x0',
    })
  const twice = Buffer.from(`[${toLog('0x01', 1)},${toLog('0x02', 2)}]`)
  const query = toQuery(1, 9)
  expect(opened.writer.addLogs({ chain, upstream: 'one', query, result: new Uint8Array(twice) })).toBe('invalid')
  const join = (...lists: readonly string[]) => opened.reader.joinResults(lists.map((list) => Buffer.from(list)))
  expect(join('[]', String(twice))).toBeUndefined()
  expect(join(`[${toLog('0x01', 1)}]`, `[${toLog('0x02', 1)}]`)).toBe('different')
  expect(join(`[${toLog('0x01', 1)}]`, `[${toLog('0x01', 2)}]`)).toBe('different')
  expect(toText(join(`[${toLog('0xab', 1)}]`, `[${toLog('0xAB', 1)}]`) as Uint8Array)).toBe(`[${toLog('0xab', 1)}]`)
})

describe('a range without logs', () => {
  const query = toQuery(1, 90, { addresses: [silent] })
  const confirm = ({ writer }: TestFile, upstream: string, result = '[]', own = query) =>
    writer.confirm({ chain, upstream, query: own, result: new Uint8Array(Buffer.from(result)) })

  test('is not found before another node has confirmed it', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, query)
    expect(read(opened, query).missing).toBeDefined()
    expect(confirm(opened, 'one')).toEqual({ confirmed: 0, contradicted: 0 })
    expect(read(opened, query).missing).toBeDefined()
    expect(confirm(opened, 'two')).toEqual({ confirmed: 1, contradicted: 0 })
    expect(read(opened, query)).toEqual({ text: '[]', missing: undefined })
  })

  test('before, between or after the logs of an answer is not found before another node has confirmed it', () => {
    const [opened, model] = [openTestFile(), createModelChain()]
    for (let number = 1; number <= 4_000; number += 1)
      model.mine([1_000, 1_100, 3_000].includes(number) ? [{ address: busy, topics: [transfer], data: '0x' }] : [])
    add(opened, model, toQuery(1, 4_000))
    expect(read(opened, toQuery(1_000, 1_100)).missing).toBeUndefined()
    expect(read(opened, toQuery(3_000, 3_000)).missing).toBeUndefined()
    for (const number of [999, 1_101, 2_999, 3_001])
      expect(read(opened, toQuery(number, number)).missing).toEqual({ first: number, last: number, addresses: [busy] })
    confirm(opened, 'two', model.getLogs(toQuery(1, 4_000)), toQuery(1, 4_000))
    expect(read(opened, toQuery(1, 4_000))).toEqual({ text: model.getLogs(toQuery(1, 4_000)), missing: undefined })
  })

  test('is confirmed by the same node after ten minutes', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, query)
    opened.pass(599_999)
    expect(confirm(opened, 'one')?.confirmed).toBe(0)
    opened.pass(1)
    expect(confirm(opened, 'one')?.confirmed).toBe(1)
  })

  test('is confirmed by another node that now has the name, and not by the same one with another name', () => {
    const opened = openTestFile()
    const result = new Uint8Array(Buffer.from('[]'))
    const [first, other] = [
      { chain, upstream: 'testnet-1', node: 'a', query, result },
      { chain, upstream: 'testnet-1', node: 'b', query, result },
    ]
    opened.writer.addLogs(first)
    expect(opened.writer.confirm({ ...first, upstream: 'testnet-2' })?.confirmed).toBe(0)
    expect(opened.writer.confirm(other)?.confirmed).toBe(1)
  })

  test('that has logs after all is dropped', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, createModelChain(), toQuery(1, 90))
    expect(confirm(opened, 'two', model.getLogs(toQuery(1, 90)), toQuery(1, 90))).toEqual({
      confirmed: 0,
      contradicted: 1,
    })
    expect(read(opened, toQuery(1, 90)).missing).toBeDefined()
    expect(
      opened.writer.pickUnconfirmed({ chain, upstream: 'one' }, { maxBlocks: 99, waitMs: 0, ageMs: 0 }),
    ).toBeUndefined()
  })

  test('of a whole chain is one row', () => {
    const [opened, model] = [openTestFile(), createChain()]
    for (let first = 1; first < 90; first += 10) add(opened, model, toQuery(first, first + 9, { addresses: [silent] }))
    expect(opened.file.database.prepare('select count(*) as rows from unconfirmed').get()?.['rows']).toBe(1)
    for (const first of [41, 1, 61, 21, 81])
      confirm(opened, 'two', '[]', toQuery(first, first + 19, { addresses: [silent] }))
    expect(countSpans(opened)).toBe(1)
    expect(read(opened, query).missing).toBeUndefined()
  })

  test('that was confirmed is dropped once a node has logs in it', () => {
    for (const byQuery of [true, false]) {
      const [opened, model] = [openTestFile(), createChain()]
      const own = toQuery(1, 90)
      add(opened, createModelChain(), own)
      confirm(opened, 'two', '[]', own)
      expect(read(opened, own).missing).toBeUndefined()
      if (byQuery) expect(add(opened, model, toQuery(50, 100), { upstream: 'three' })).toEqual({ contradicted: 'two' })
      else expect(confirm(opened, 'three', model.getLogs(own), own)?.contradicted).toBe(1)
      expect(read(opened, toQuery(1, 40)).missing).toBeDefined()
    }
  })

  test('that several nodes have confirmed in part can be deleted by node', () => {
    const [opened, model] = [openTestFile(), createChain()]
    const [low, high] = [toQuery(1, 40, { addresses: [silent] }), toQuery(41, 90, { addresses: [silent] })]
    add(opened, model, query)
    confirm(opened, 'two', '[]', low)
    confirm(opened, 'three', '[]', high)
    expect(read(opened, query).missing).toBeUndefined()
    while (opened.writer.purge(undefined, 'two') > 0);
    expect(read(opened, query).missing).toEqual({ first: 1, last: 40, addresses: [silent] })
  })

  test('is picked with others of the same topics, as one query', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, toQuery(1, 40, { addresses: [rare, silent], topics: [[transfer]] }))
    add(opened, model, toQuery(41, 90, { addresses: [silent], topics: [[approval]] }))
    expect(opened.writer.pickUnconfirmed({ chain, upstream: 'one' }, { maxBlocks: 60, waitMs: 0, ageMs: 0 })).toEqual({
      query: { first: 1, last: 60, addresses: [rare, silent], topics: [[transfer, approval]] },
      upstream: 'one',
      at: expect.any(Number),
    })
  })
})

describe('spans', () => {
  test('of a busy address are joined while they are small, and cut when they are large', () => {
    const [opened, model] = [openTestFile(), createModelChain()]
    for (let number = 1; number <= 200; number += 1)
      model.mine([{ address: busy, topics: [transfer], data: `0x${number.toString(16).repeat(400)}` }])
    for (let first = 1; first < 200; first += 2) add(opened, model, toQuery(first, first + 1))
    expect(countSpans(opened)).toBeLessThan(30)
    expect(countSpans(opened)).toBeGreaterThan(3)
    expect(read(opened, toQuery(1, 200)).text).toBe(model.getLogs(toQuery(1, 200)))
  })

  test('of different nodes are not joined, and can be deleted by node', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, toQuery(1, 50))
    add(opened, model, toQuery(51, 100), { upstream: 'two' })
    while (opened.writer.purge(undefined, 'two') > 0);
    expect(read(opened, toQuery(1, 100)).missing).toEqual({ first: 51, last: 100, addresses: [busy] })
    while (opened.writer.purge('testnet 9', undefined) > 0);
    expect(read(opened, toQuery(1, 50)).missing).toBeUndefined()
    while (opened.writer.purge(chain, undefined) > 0);
    expect(read(opened, toQuery(1, 50)).missing).toBeDefined()
  })

  test('that were not used for longest are deleted if the file is too large', () => {
    const [opened, model] = [openTestFile({ maxBytes: 1_000_000 }), createModelChain()]
    const random = createRandom(1)
    const noise = (): string =>
      Array.from({ length: 500 }, () => random(0x1_0000_0000).toString(16).padStart(8, '0')).join('')
    for (let number = 1; number <= 600; number += 1)
      model.mine([{ address: busy, topics: [transfer], data: `0x${noise()}` }])
    for (let first = 1; first < 600; first += 20) {
      add(opened, model, toQuery(first, first + 19))
      opened.pass(86_400_000)
      read(opened, toQuery(1, 20))
      opened.writer.noteRows(opened.reader.takeRows())
      while (opened.writer.evict() > 0);
    }
    expect(opened.writer.getStats().bytes).toBeLessThan(1_100_000)
    expect(read(opened, toQuery(1, 20)).missing).toBeUndefined()
    expect(read(opened, toQuery(581, 600)).missing).toBeUndefined()
    expect(read(opened, toQuery(101, 120)).missing).toBeDefined()
  })
})

test('rows are deleted in steps, so that other instances can write between them', () => {
  const [opened, model] = [openTestFile({ maxBytes: 1 }), createChain()]
  for (let number = 1; number <= 60; number += 1)
    opened.writer.addEntry({
      chain,
      upstream: 'one',
      text: `block ${number}`,
      block: number,
      value: new Uint8Array(Buffer.from(model.getBlock(number))),
    })
  let time = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += 20))
  onTestFinished(() => clock.mockRestore())
  const steps: number[] = []
  for (let rows = opened.writer.evict(); rows > 0; rows = opened.writer.evict()) steps.push(rows)
  expect(steps).toEqual([20, 20, 20])
})

describe('a damaged row', () => {
  test.each(['first = first - 9', 'last = last + 9', 'source = source + 1', 'value = 0', 'crc = crc + 1'])(
    'is as if it were not there, and is replaced (%s)',
    (change) => {
      const [opened, model] = [openTestFile(), createChain()]
      add(opened, model, toQuery(20, 40))
      opened.file.database.exec(`update spans set ${change}`)
      expect(read(opened, toQuery(20, 40))).toEqual({
        text: '[]',
        missing: { first: 20, last: 40, addresses: [busy] },
      })
      add(opened, model, toQuery(20, 40))
      expect(read(opened, toQuery(20, 40))).toEqual({ text: model.getLogs(toQuery(20, 40)), missing: undefined })
    },
  )

  test('with a flipped bit in its logs is not served, and is replaced once reading has shown it', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, toQuery(20, 40))
    const { value } = opened.file.database.prepare('select value from logs').get() as { value: Uint8Array }
    value[value.length - 9] = (value[value.length - 9] ?? 0) ^ 4
    opened.file.database.prepare('update logs set value = ?').run(value)
    expect(read(opened, toQuery(20, 40)).missing).toBeDefined()
    opened.writer.noteRows(opened.reader.takeRows())
    add(opened, model, toQuery(20, 40))
    expect(read(opened, toQuery(20, 40)).missing).toBeUndefined()
  })
})

test('an entry is found by its text, unless it is damaged', () => {
  const { file, reader, writer } = openTestFile()
  const value = new Uint8Array(Buffer.from(`{"number":"0x1","extraData":"0x${'00'.repeat(2_000)}"}`))
  writer.addEntry({ chain, upstream: 'one', text: 'block 1', block: 1, value })
  expect(toText(reader.readEntry('block 1'))).toBe(toText(value))
  expect(reader.readEntry('block 2')).toBeUndefined()
  file.database.exec('update entries set source = source + 1')
  expect(reader.readEntry('block 1')).toBeUndefined()
  writer.noteRows(reader.takeRows())
  writer.addEntry({ chain, upstream: 'one', text: 'block 1', block: 1, value })
  expect(toText(reader.readEntry('block 1'))).toBe(toText(value))
})

describe('an empty result', () => {
  const empty = { chain, text: 'receipts 1', block: 1, isEmpty: true, value: new Uint8Array(Buffer.from('[]')) }
  const full = { ...empty, isEmpty: false, value: new Uint8Array(Buffer.from('[{}]')) }

  test('is found once another node, or the same one ten minutes later, has sent it too', () => {
    const { reader, writer, pass } = openTestFile()
    writer.addEntry({ ...empty, upstream: 'one' })
    pass(599_999)
    writer.addEntry({ ...empty, upstream: 'one' })
    expect(reader.readEntry('receipts 1')).toBeUndefined()
    pass(1)
    writer.addEntry({ ...empty, upstream: 'one' })
    expect(toText(reader.readEntry('receipts 1'))).toBe('[]')
    writer.addEntry({ ...empty, text: 'receipts 2', upstream: 'one' })
    writer.addEntry({ ...empty, text: 'receipts 2', upstream: 'two' })
    expect(toText(reader.readEntry('receipts 2'))).toBe('[]')
  })

  test('is dropped with that of a node that has more, and the first node is named', () => {
    const { reader, writer } = openTestFile()
    writer.addEntry({ ...empty, upstream: 'one' })
    expect(writer.addEntry({ ...full, upstream: 'two' })).toEqual({ contradicted: 'one' })
    expect(reader.readEntry('receipts 1')).toBeUndefined()
    writer.addEntry({ ...full, upstream: 'two' })
    expect(toText(reader.readEntry('receipts 1'))).toBe('[{}]')
  })

  test('is not found because a flipped bit says that it is confirmed', () => {
    const { file, reader, writer } = openTestFile()
    writer.addEntry({ ...empty, upstream: 'one' })
    file.database.exec('update entries set unconfirmed = 0')
    expect(reader.readEntry('receipts 1')).toBeUndefined()
  })
})

describe('a chain whose newest blocks were replaced', () => {
  const version = { epoch: 'a', revision: 0 }
  const own = `${chain} a`

  /** Stores logs, an empty range and two blocks of an epoch, up to block 100. */
  const openStored = (): TestFile => {
    const [opened, model] = [openTestFile(), createChain()]
    const { writer } = opened
    for (const number of [50, 100])
      writer.setCheckpoint(chain, { ...version, genesis: '0x1', number, hash: `0x${number}` })
    // Logs of different nodes are not one row, which would be deleted as a whole.
    for (const [query, ...upstreams] of [
      [toQuery(1, 40), 'one', 'two'],
      [toQuery(41, 100), 'two', 'one'],
      [toQuery(1, 100, { addresses: [silent] }), 'one', 'two'],
    ] as const)
      for (const upstream of upstreams)
        writer.addLogs({
          chain: own,
          upstream,
          revision: 0,
          query,
          result: new Uint8Array(Buffer.from(model.getLogs(query))),
        })
    writer.addLogs({
      chain: own,
      upstream: 'one',
      query: toQuery(1, 100, { addresses: [rare], topics: [[transfer]] }),
      result: new Uint8Array(Buffer.from('[]')),
    })
    for (const block of [50, 51])
      writer.addEntry({ chain: own, upstream: 'one', text: `block ${block}`, block, value: new Uint8Array([49]) })
    return opened
  }
  const readOwn = ({ reader }: TestFile, query: LogQuery) => reader.readLogs(own, query, Infinity)?.missing

  test('has what is stored below them, and nothing above', () => {
    const opened = openStored()
    expect(readOwn(opened, toQuery(1, 100))).toBeUndefined()
    opened.writer.rollBack(chain, version, 50)
    expect(readOwn(opened, toQuery(1, 100))).toEqual({ first: 41, last: 100, addresses: [busy] })
    expect(readOwn(opened, toQuery(1, 100, { addresses: [silent] }))).toMatchObject({ first: 51, last: 100 })
    expect(['block 50', 'block 51'].map((text) => toText(opened.reader.readEntry(text)))).toEqual(['1', ''])
    const unconfirmed = opened.writer.pickUnconfirmed(
      { chain: own, upstream: 'one' },
      { maxBlocks: 500, waitMs: 0, ageMs: 0 },
    )
    expect(unconfirmed?.query).toMatchObject({ first: 1, last: 50 })
    expect(opened.writer.getCheckpoint(chain)).toMatchObject({ epoch: 'a', revision: 1, number: 50 })
  })

  test('gets nothing that was read before, by any instance', () => {
    const opened = openStored()
    const { reader, writer } = opened
    writer.rollBack(chain, version, 50)
    // Another instance that has seen the same does not delete what is stored since.
    writer.addEntry({
      chain: own,
      upstream: 'one',
      revision: 1,
      text: 'block 60',
      block: 60,
      value: new Uint8Array([50]),
    })
    writer.rollBack(chain, version, 50)
    expect(toText(reader.readEntry('block 60'))).toBe('2')
    const late = { chain: own, upstream: 'one', revision: 0 }
    expect(writer.addEntry({ ...late, text: 'block 51', block: 51, value: new Uint8Array([49]) })).toBe('outdated')
    const query = toQuery(41, 100)
    const result = new Uint8Array(Buffer.from(createChain().getLogs(query)))
    expect(writer.addLogs({ ...late, query, result })).toBe('outdated')
    expect(writer.confirm({ ...late, query, result })).toBeUndefined()
    expect(writer.setCheckpoint(chain, { ...version, genesis: '0x1', number: 120, hash: '0x120' })?.number).toBe(50)
    expect([reader.readEntry('block 51'), readOwn(opened, query)?.first]).toEqual([undefined, 41])
  })

  test('keeps fewer checkpoints of blocks long ago, and all of the newest ones', () => {
    const { writer } = openTestFile()
    for (let number = 10; number <= 10_000; number += 10)
      writer.setCheckpoint(chain, { ...version, genesis: '0x1', number, hash: `0x${number}` })
    const numbers = writer.getCheckpoints(chain).map(({ number }) => number)
    expect(numbers.length).toBeLessThan(100)
    expect(numbers.slice(-4)).toEqual([9_970, 9_980, 9_990, 10_000])
    // A reorganization deletes little more than it has replaced.
    for (const replaced of [100, 1_000, 5_000]) {
      const common = numbers.findLast((number) => number <= 10_000 - replaced) ?? 0
      expect(10_000 - common).toBeLessThan(replaced * 1.5)
    }
  })
})

describe('random requests on a chain whose tail is reorganized', () => {
  test('get what the chain has, at least half of them without a node', async () => {
    const { reader, writer } = openTestFile({ maxBytes: 50_000_000 })
    const result = await fuzzStore(
      toFuzzedStore(reader, writer, () => void writer.evict()),
      { requests: 4_000, seed: 1 },
    )
    expect(result).toMatchObject({ wrong: 0, firstWrong: undefined, wider: 0, unjoined: 0 })
    expect(result.hits).toBeGreaterThan(1_000)
  })

  test('get what the chain has although rows are deleted', async () => {
    const { reader, writer } = openTestFile({ maxBytes: 400_000 })
    const result = await fuzzStore(
      toFuzzedStore(reader, writer, () => void writer.evict()),
      { requests: 2_000, seed: 2 },
    )
    expect(result).toMatchObject({ wrong: 0, firstWrong: undefined, wider: 0, unjoined: 0 })
  })

  test('get what the chain has although rows are damaged', async () => {
    const { file, reader, writer } = openTestFile()
    const result = await fuzzStore(
      toFuzzedStore(reader, writer, (random) => damageRows(file.database, random, 20)),
      { requests: 2_000, seed: 3 },
    )
    expect(result).toMatchObject({ wrong: 0, firstWrong: undefined, wider: 0, unjoined: 0 })
    expect(result.hits).toBeGreaterThan(100)
  })
})

test('random requests to a store that one of two nodes sends wrong answers get what the chain has', async () => {
  const { file, reader, writer } = openTestFile()
  const random = createRandom(8)
  const fuzzed = toFuzzedStore(reader, writer, (own) => {
    if (own(4) === 0) damageRows(file.database, random, 2)
    else writer.evict()
  })
  const store = toConfirmedStore(fuzzed)
  const result = await fuzzStore(store, { requests: 1_000, seed: 7 })
  expect(result).toMatchObject({ wrong: 0, firstWrong: undefined, wider: 0, unjoined: 0 })
  expect(result.hits).toBeGreaterThan(50)
})
