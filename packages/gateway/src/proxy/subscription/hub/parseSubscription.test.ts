import { describe, expect, test } from 'vitest'
import { parseSubscription } from './parseSubscription.ts'

const limits = { maxAddresses: 3, maxTopics: 4, fullTransactions: true }
const address = (digit: string): string => `0x${digit.repeat(40)}`
const word = (digit: string): string => `0x${digit.repeat(64)}`
const parse = (...params: unknown[]) => parseSubscription(JSON.stringify(params), limits)
const parseFilter = (filter: unknown) => {
  const request = parse('logs', filter)
  if (!('kind' in request) || request.kind !== 'logs') throw new Error(JSON.stringify(request))
  return request
}

describe('a request to subscribe', () => {
  test.each([
    [['newHeads'], { kind: 'newHeads', cursor: undefined }],
    [['newHeads', { cursor: null }], { kind: 'newHeads', cursor: null }],
    [
      ['newHeads', { cursor: { number: '0x1F', hashes: [word('A'), word('b')] } }],
      { kind: 'newHeads', cursor: { number: 31, hashes: [word('a'), word('b')] } },
    ],
    [['logs', {}], { kind: 'logs', filter: { addresses: [], topics: [] }, cursor: undefined }],
    [['logs', {}, { cursor: null }], { kind: 'logs', filter: { addresses: [], topics: [] }, cursor: null }],
    [['newPendingTransactions'], { kind: 'newPendingTransactions', full: false }],
    [['newPendingTransactions', null], { kind: 'newPendingTransactions', full: false }],
    [['newPendingTransactions', false], { kind: 'newPendingTransactions', full: false }],
    [['newPendingTransactions', true], { kind: 'newPendingTransactions', full: true }],
    [['syncing'], { kind: 'syncing' }],
  ])('%j is accepted', (params, expected) => {
    expect(parse(...params)).toEqual({ ...expected, key: expect.any(String) as string })
  })

  test.each([
    [undefined, 'the first parameter is missing: use newHeads, logs, newPendingTransactions or syncing'],
    ['[]', 'the first parameter is missing: use newHeads, logs, newPendingTransactions or syncing'],
    ['{}', 'use a list, such as ["newHeads"]'],
    ['["heads"]', 'unknown subscription "heads": use newHeads, logs, newPendingTransactions or syncing'],
    ['[7]', 'unknown subscription 7: use newHeads, logs, newPendingTransactions or syncing'],
    ['["newHeads", {}]', 'after newHeads only { "cursor": … } may follow'],
    ['["newHeads", null]', 'after newHeads only { "cursor": … } may follow'],
    ['["newHeads", {"cursor":null,"from":1}]', 'after newHeads only { "cursor": … } may follow'],
    ['["newHeads", {"cursor":null}, 1]', 'after newHeads only { "cursor": … } may follow'],
    ['["logs", {}, {}]', 'after the filter only { "cursor": … } may follow'],
    ['["logs"]', 'logs needs a filter: use ["logs", {}] for all logs'],
    ['["logs", null]', 'logs needs a filter: use ["logs", {}] for all logs'],
    ['["logs", []]', 'logs needs a filter: use ["logs", {}] for all logs'],
    ['["syncing", {}]', 'syncing accepts no more parameters: use ["syncing"]'],
    [
      '["newPendingTransactions", "full"]',
      'newPendingTransactions accepts only true, for whole transactions, or false, for hashes',
    ],
    [
      '["newPendingTransactions", true, 1]',
      'newPendingTransactions accepts only true, for whole transactions, or false, for hashes',
    ],
  ])('%s is rejected', (params, problem) => {
    expect(parseSubscription(params, limits)).toEqual({
      status: 200,
      code: -32602,
      message: `Invalid params: ${problem}`,
      reason: 'invalid_params',
    })
  })

  test.each([
    ['latest', '"cursor" must be null or { "number": "0x…", "hashes": ["0x…"] }'],
    [{ number: 1, hashes: [word('a')] }, '"cursor.number" must be the number of a block, such as "0x10"'],
    [{ number: '0x01', hashes: [word('a')] }, '"cursor.number" must be the number of a block, such as "0x10"'],
    [{ number: `0x${'f'.repeat(16)}`, hashes: [word('a')] }, '"cursor.number" must be the number of a block'],
    [{ number: '0x1' }, '"cursor.hashes" must be a list of 1 to 256 block hashes, newest first'],
    [{ number: '0x1', hashes: [] }, '"cursor.hashes" must be a list of 1 to 256 block hashes, newest first'],
    [{ number: '0x1', hashes: Array(257).fill(word('a')) }, '"cursor.hashes" must be a list of 1 to 256'],
    [{ number: '0x1', hashes: [word('a'), '0x1'] }, '"cursor.hashes[1]" must be a block hash'],
  ])('the cursor %j is rejected', (cursor, problem) => {
    expect(parse('newHeads', { cursor })).toMatchObject({
      code: -32602,
      message: expect.stringContaining(problem) as string,
    })
  })

  test('an unknown kind is cut in the message', () => {
    const { message } = parse('x'.repeat(10_000)) as { message: string }
    expect(message.length).toBeLessThan(200)
  })
})

describe('the filter of a request', () => {
  test.each([
    [{ address: null, topics: null, fromBlock: null, toBlock: null, blockHash: null }, [], []],
    [{ address: address('A') }, [address('a')], []],
    [{ address: [] }, [], []],
    [{ address: [address('b'), address('a'), address('B')] }, [address('a'), address('b')], []],
    [{ topics: [] }, [], []],
    [{ topics: [word('A')] }, [], [[word('a')]]],
    [{ topics: [null, [], [word('b'), word('a')], null] }, [], [[], [], [word('a'), word('b')], []]],
    [{ topics: [[word('a'), null]] }, [], [[]]],
    [{ fromBlock: '0x10', toBlock: 'latest' }, [], []],
    [{ fromBlock: 'latest', other: 1 }, [], []],
    [{ fromBlock: 'earliest' }, [], []],
  ])('%j is accepted', (filter, addresses, topics) => {
    expect(parseFilter(filter).filter).toEqual({ addresses, topics })
  })

  test.each([
    [{ address: '0x1' }, '"address" must be an address, "0x" and 40 hex digits'],
    [{ address: [address('a'), 7] }, '"address[1]" must be an address, "0x" and 40 hex digits'],
    [{ address: [null] }, '"address[0]" must be an address, "0x" and 40 hex digits'],
    [{ address: ['a', 'b', 'c', 'd'].map(address) }, '"address" has 4 addresses, more than 3: use several filters'],
    [{ topics: word('a') }, '"topics" must be a list of at most 4'],
    [{ topics: [null, null, null, null, null] }, '"topics" must be a list of at most 4'],
    [{ topics: ['0x1'] }, '"topics[0]" must be null, a topic ("0x" and 64 hex digits) or a list of topics'],
    [{ topics: [null, [word('a'), 7]] }, '"topics[1]" must be null, a topic'],
    [{ topics: [['a', 'b', 'c'].map(word), ['a', 'b'].map(word)] }, '"topics" has 5 topics, more than 4'],
    [{ blockHash: word('a') }, '"blockHash" is not possible: read the logs of a block with eth_getLogs'],
    [{ fromBlock: 'pending' }, '"fromBlock" cannot be "pending": only new logs are delivered, so remove it'],
    [{ fromBlock: 16 }, '"fromBlock" cannot be 16: only new logs are delivered, so remove it'],
    [{ toBlock: '0x10' }, '"toBlock" cannot be "0x10": remove it, and end the subscription with eth_unsubscribe'],
  ])('%j is rejected', (filter, problem) => {
    expect(parse('logs', filter)).toMatchObject({ code: -32602, message: expect.stringContaining(problem) as string })
  })
})

describe('the key of a request', () => {
  const getKey = (...params: unknown[]): string => {
    const request = parse(...params)
    if (!('key' in request)) throw new Error(request.message)
    return request.key
  }
  test.each([
    [{ address: [address('a'), address('b')] }, { address: [address('B'), address('A'), address('a')] }],
    [{ address: address('a') }, { address: [address('a')] }],
    [{ topics: [[word('a'), word('b')]] }, { topics: [[word('b'), word('a')]] }],
    [{ topics: [null] }, { topics: [[]] }],
    [{}, { address: [], topics: [], fromBlock: '0x1' }],
  ])('is the same for %j and %j', (one, other) => {
    expect(getKey('logs', one)).toBe(getKey('logs', other))
  })

  test('is the same for every cursor', () => {
    expect(getKey('newHeads', { cursor: null })).toBe(
      getKey('newHeads', { cursor: { number: '0x1', hashes: [word('a')] } }),
    )
  })

  test('differs for requests that get different notifications', () => {
    const requests = [
      ['newHeads'],
      ['newHeads', { cursor: null }],
      ['newPendingTransactions'],
      ['newPendingTransactions', true],
      ['syncing'],
      ['logs', {}],
      ['logs', {}, { cursor: null }],
      ['logs', { address: address('a') }],
      ['logs', { topics: [word('a')] }],
      ['logs', { topics: [null] }],
      ['logs', { topics: [word('a'), null] }],
      ['logs', { topics: [null, word('a')] }],
    ]
    expect(new Set(requests.map((params) => getKey(...params))).size).toBe(requests.length)
  })
})
