import { describe, expect, test } from 'vitest'
import type { EntryAnswer, StoredAnswer } from '../../src/storage/chainStore/createChainWriter.ts'
import type { LogQuery } from '../../src/storage/chainStore/logQuery.ts'
import { createModelChain, toAddress, toWord } from './modelChain.ts'
import type { LogStyle, ModelChain } from './modelChain.ts'
import { openTestFile } from './openTestFile.ts'
import type { TestFile } from './openTestFile.ts'

const chain = 'testnet 1 confirmed epoch'
const [busy, silent] = [toAddress(1), toAddress(2)] as const

/** A chain of 100 blocks with a log in each tenth, or in another one. */
const createChain = (every = 10): ModelChain => {
  const model = createModelChain()
  for (let number = 1; number <= 100; number += 1)
    model.mine(number % every === 0 ? [{ address: busy, topics: [toWord(number)], data: '0x' }] : [])
  return model
}

const toQuery = (first: number, last: number, addresses: readonly string[] = [busy]): LogQuery => ({
  first,
  last,
  addresses,
  topics: [],
})

interface Node {
  readonly upstream: string
  readonly group: string
  readonly style?: LogStyle
}
const [one, two, three]: readonly [Node, Node, Node] = [
  { upstream: 'one', group: 'a' },
  { upstream: 'two', group: 'b', style: 'timestamps' },
  { upstream: 'three', group: 'a' },
]

const toAnswer = (model: ModelChain, query: LogQuery, { style, ...source }: Node) => ({
  chain,
  ...source,
  query,
  result: new Uint8Array(Buffer.from(model.getLogs(query, style))),
})

const add = ({ writer }: TestFile, model: ModelChain, query: LogQuery, node: Node): StoredAnswer =>
  writer.addLogs(toAnswer(model, query, node))

const read = ({ reader }: TestFile, query: LogQuery) => {
  const found = reader.readLogs(chain, query, Infinity)
  return { text: Buffer.from(found?.value ?? []).toString('latin1'), missing: found?.missing }
}

const count = ({ file }: TestFile, table: string): unknown =>
  file.database.prepare(`select count(*) as rows from ${table}`).get()?.['rows']

const isMissing = (query: LogQuery) => ({
  text: '[]',
  missing: { first: query.first, last: query.last, addresses: query.addresses },
})

describe('logs', () => {
  const query = toQuery(1, 90)

  test('are served once a node of another group has sent what means the same, and as that node has', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, query, one)
    expect(read(opened, query)).toEqual(isMissing(query))
    add(opened, model, query, two)
    expect(read(opened, query)).toEqual({ text: model.getLogs(query, 'timestamps'), missing: undefined })
    expect(count(opened, 'unconfirmed')).toBe(0)
  })

  test('are not confirmed by another node of the same group, nor by the same node, however late', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, query, one)
    opened.pass(24 * 3_600_000)
    expect(add(opened, createChain(7), query, three)).toBe('stored')
    add(opened, model, query, one)
    add(opened, model, query, three)
    expect(read(opened, query)).toEqual(isMissing(query))
    opened.writer.confirm(toAnswer(model, query, three))
    expect(read(opened, query)).toEqual(isMissing(query))
    expect(opened.writer.confirm(toAnswer(model, query, two))).toEqual({ confirmed: 1, contradicted: 0 })
    expect(read(opened, query).missing).toBeUndefined()
  })

  test.each([
    ['that one node leaves out', createChain(10), createChain(20)],
    ['that one node has in addition', createChain(20), createChain(10)],
    ['with other topics', createChain(), createChain(9)],
  ])('%s are dropped, whoever was first, and count for the first', (_, first, second) => {
    const byCall = openTestFile()
    add(byCall, first, query, one)
    expect(add(byCall, second, query, two)).toEqual({ contradicted: 'one' })
    const inBackground = openTestFile()
    add(inBackground, first, query, one)
    expect(inBackground.writer.confirm(toAnswer(second, query, two))).toEqual({ confirmed: 0, contradicted: 1 })
    for (const opened of [byCall, inBackground]) {
      expect(read(opened, query)).toEqual(isMissing(query))
      expect(['unconfirmed', 'spans', 'logs'].map((table) => count(opened, table))).toEqual([0, 0, 0])
    }
  })

  test('are confirmed where two answers overlap', () => {
    const [opened, model] = [openTestFile(), createChain()]
    add(opened, model, toQuery(1, 60), one)
    add(opened, model, toQuery(35, 90), two)
    expect(read(opened, toQuery(35, 60))).toEqual({
      text: model.getLogs(toQuery(35, 60), 'timestamps'),
      missing: undefined,
    })
    expect(read(opened, toQuery(1, 90)).missing).toMatchObject({ first: 1, last: 90 })
    add(opened, model, toQuery(1, 90), { ...two, upstream: 'fourth' })
    add(opened, model, toQuery(1, 90), one)
    expect(read(opened, toQuery(1, 90))).toEqual({
      text: model.getLogs(toQuery(1, 90), 'timestamps').replaceAll(/"blockTimestamp":"0x[0-9a-f]+",/g, ''),
      missing: undefined,
    })
  })

  test('of a range without any need no less', () => {
    const [opened, model] = [openTestFile(), createChain()]
    const empty = toQuery(1, 90, [silent])
    add(opened, model, empty, one)
    opened.pass(24 * 3_600_000)
    add(opened, model, empty, three)
    expect(read(opened, empty)).toEqual(isMissing(empty))
    add(opened, model, empty, two)
    expect(read(opened, empty)).toEqual({ text: '[]', missing: undefined })
  })

  test('that are not confirmed are deleted with their node, with the blocks that were replaced, and when there is no room', () => {
    const model = createChain()
    const purged = openTestFile()
    add(purged, model, query, one)
    while (purged.writer.purge(undefined, 'one') > 0);
    const rolledBack = openTestFile()
    const checkpoint = { epoch: 'epoch', revision: 0, genesis: '0x', number: 95, hash: '0x' }
    rolledBack.writer.setCheckpoint('testnet 1 confirmed', checkpoint)
    add(rolledBack, model, query, one)
    rolledBack.writer.rollBack('testnet 1 confirmed', checkpoint, 45)
    add(rolledBack, model, toQuery(1, 45), two)
    expect(read(rolledBack, toQuery(1, 45)).missing).toBeUndefined()
    const full = openTestFile({ maxBytes: 1 })
    add(full, model, query, one)
    while (full.writer.evict() > 0);
    for (const opened of [purged, rolledBack, full]) expect(count(opened, 'unconfirmed')).toBe(0)
    expect([purged, full].map((opened) => count(opened, 'logs'))).toEqual([0, 0])
  })

  test('are cut into parts that are small, each confirmed as one', () => {
    const [opened, model] = [openTestFile(), createModelChain()]
    for (let number = 1; number <= 100; number += 1)
      model.mine([{ address: busy, topics: [], data: `0x${'ab'.repeat(1_000)}` }])
    add(opened, model, query, one)
    expect(count(opened, 'unconfirmed')).toBeGreaterThan(3)
    const picked = opened.writer.pickUnconfirmed({ chain, upstream: 'one' }, { maxBlocks: 1e5, waitMs: 0, ageMs: 0 })
    expect(picked?.query).toEqual(query)
    add(opened, model, query, two)
    expect(read(opened, query).text).toBe(model.getLogs(query, 'timestamps'))
  })
})

describe('other results', () => {
  const call = { method: 'eth_getBlockByNumber', params: '["0x5",false]' }
  const text = `${chain} eth_getBlockByNumber ["0x5",false]`
  const addEntry = ({ writer }: TestFile, value: string, { upstream, group }: Node, own: Partial<EntryAnswer> = {}) =>
    writer.addEntry({
      chain,
      upstream,
      group,
      text,
      call,
      block: 5,
      value: new Uint8Array(Buffer.from(value)),
      ...own,
    })
  const readEntry = ({ reader }: TestFile) =>
    reader.readEntry(text) && Buffer.from(reader.readEntry(text) ?? []).toString()

  test('are served once a node of another group has sent what means the same, and as that node has', () => {
    const opened = openTestFile()
    addEntry(opened, '{"number":"0x5","gasUsed":"0x0a"}', one)
    addEntry(opened, '{"number":"0x5","gasUsed":"0x0a"}', three)
    expect(readEntry(opened)).toBeUndefined()
    addEntry(opened, '{"gasUsed":"0xA","number":"0x5"}', two)
    expect(readEntry(opened)).toBe('{"gasUsed":"0xA","number":"0x5"}')
    expect(opened.writer.pickEntries({ chain, upstream: 'one' }, { after: 0, count: 9 })).toEqual([])
  })

  test('that differ, or that are no JSON, are dropped and count for the first', () => {
    for (const [first, second] of [
      ['{"gasUsed":"0xa"}', '{"gasUsed":"0xb"}'],
      ['[]', '[{}]'],
      ['{', '{ '],
    ] as const) {
      const opened = openTestFile()
      addEntry(opened, first, one)
      expect(addEntry(opened, second, two)).toEqual({ contradicted: 'one' })
      expect([readEntry(opened), count(opened, 'entries')]).toEqual([undefined, 0])
    }
  })

  test('are picked in their order, each once, and without damaged ones', () => {
    const opened = openTestFile()
    for (const block of [5, 6, 7]) {
      const own = { method: call.method, params: `["0x${block}",false]`, client: 'Geth/v1' }
      const name = `${chain} ${own.method} ${own.params} Geth/v1`
      addEntry(opened, '{"number":1}', one, { call: own, text: name, block })
    }
    opened.file.database.exec(`update entries set call = replace(call, '0x6', '0x7')`)
    const pick = (after: number) => opened.writer.pickEntries({ chain, upstream: 'one' }, { after, count: 1 })
    const [first] = pick(0)
    expect(first).toMatchObject({ block: 5, call: { params: '["0x5",false]', client: 'Geth/v1' } })
    expect(pick(first?.number ?? 0)).toEqual([])
    expect(pick(first?.number ?? 0)).toMatchObject([{ block: 7 }])
    expect(opened.writer.pickEntries({ chain, upstream: 'unknown' }, { after: 0, count: 1 })).toEqual([])
  })

  test.each(['null', '5', '[]', '{"method":"eth_getBlockByNumber"}', '{"method":1,"params":"[]"}', '{'])(
    'with the damaged call %s are removed, and do not keep others waiting',
    (damaged) => {
      const opened = openTestFile()
      addEntry(opened, '{"number":1}', one)
      opened.file.database.prepare('update entries set call = ?').run(damaged)
      const own = { method: call.method, params: '["0x6",false]' }
      addEntry(opened, '{"number":1}', one, { call: own, text: `${chain} ${own.method} ${own.params}`, block: 6 })
      const picked = opened.writer.pickEntries({ chain, upstream: 'one' }, { after: 0, count: 9 })
      expect(picked).toMatchObject([{ call: own, block: 6 }])
      expect(count(opened, 'entries')).toBe(1)
    },
  )

  test('count as unconfirmed in the stats', () => {
    const opened = openTestFile()
    addEntry(opened, '{}', one)
    add(opened, createChain(), toQuery(1, 90), one)
    const getStats = () => opened.writer.getStats().chains
    expect(getStats()).toEqual([{ chain, upstream: 'one', spans: 0, entries: 0, unconfirmed: 2 }])
    addEntry(opened, '{}', two)
    expect(getStats()).toMatchObject([{ entries: 0, unconfirmed: 1 }, { entries: 1 }])
  })
})
