import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { adapters, batches, chains, failures, fresh, heldOut, rangeHints, retryAfters, wordings } from './index.ts'

const kinds = new Set(
  'auth forbidden throttled quota range batchTooLarge methodUnavailable wrongNetwork lagging missingData revert txKnown txRejected unconfirmed invalidRequest badResponse unavailable network timeout aborted unknown'.split(
    ' ',
  ),
)

describe('failures.json', () => {
  test('has at least 140 cases, of at least 17 dialects', () => {
    expect(failures.length).toBeGreaterThanOrEqual(140)
    expect(new Set(failures.map(({ provider }) => provider)).size).toBeGreaterThanOrEqual(17)
  })

  test('names each case once', () => {
    expect(new Set(failures.map(({ name }) => name)).size).toBe(failures.length)
  })

  test.each([...failures, ...wordings, ...heldOut, ...fresh])(
    '$name is well formed',
    ({ provider, appliesTo, request, response, expect: expected, why }) => {
      expect(provider).toMatch(/^[a-z\d.-]+$/)
      expect(appliesTo.length).toBeGreaterThan(0)
      expect(request.method).toMatch(/^[a-z\d]+_[A-Za-z\d]+$/)
      expect(response.status).toSatisfy((status: number) => Number.isInteger(status) && status >= 200 && status < 600)
      for (const name of Object.keys(response.headers ?? {})) expect(name).toBe(name.toLowerCase())
      expect(kinds).toContain(expected.kind)
      expect(['client', 'transport', 'service', 'node']).toContain(expected.source)
      expect(why).toMatch(/^\S.{6,}[.?]$/)
    },
  )
})

describe('wordings.json', () => {
  test('has at least 550 cases, each named once, also among those of failures.json', () => {
    expect(wordings.length).toBeGreaterThanOrEqual(550)
    const names = [...failures, ...wordings].map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  test('names the origin of every wording', () => {
    for (const { name, origin = '' } of [...wordings, ...fresh])
      expect(origin, name).toMatch(/^(https:\/\/|[\w.-]+\/[\w.-]+)/)
  })

  test('says of every write whether it may have arrived', () => {
    for (const { name, request, expect: expected } of [...wordings, ...fresh])
      expect(expected.mayHaveArrived, name).toBeTypeOf(request.method.startsWith('eth_send') ? 'boolean' : 'undefined')
  })

  test('failures.json and fresh.json divide the providers by the SHA-256 of their names', () => {
    for (const { name, provider, half } of [...failures, ...wordings, ...fresh]) {
      const [first = 0] = createHash('sha256').update(provider).digest()
      expect(half, name).toBe(first % 2 === 1 ? 'second' : 'first')
    }
  })
})

describe('fresh.json', () => {
  test('has at least 120 cases of at least 12 providers, each named once', () => {
    expect(fresh.length).toBeGreaterThanOrEqual(120)
    expect(new Set(fresh.map(({ provider }) => provider)).size).toBeGreaterThanOrEqual(12)
    expect(new Set(fresh.map(({ name }) => name)).size).toBe(fresh.length)
  })

  test('repeats no error of the other files', () => {
    const toError = ({ response: { body } }: (typeof fresh)[number]): string => JSON.stringify(body)
    const known = new Set([...failures, ...wordings, ...heldOut].map(toError))
    expect(fresh.filter((one) => known.has(toError(one))).map(({ name }) => name)).toEqual([])
  })
})

describe('chains/*.json', () => {
  test('has at least 20 clients, each once', () => {
    expect(chains.length).toBeGreaterThanOrEqual(20)
    expect(new Set(chains.map(({ client }) => client)).size).toBe(chains.length)
  })

  test.each(chains)('$client: each fixture has a name and a source', ({ fixtures }) => {
    expect(fixtures.length).toBeGreaterThan(0)
    expect(new Set(fixtures.map(({ name }) => name)).size).toBe(fixtures.length)
    for (const fixture of fixtures) {
      expect(['recorded', 'documented'], fixture.name).toContain(fixture.origin)
      expect(fixture.source, fixture.name).toMatch(/^https:\/\/[\w.-]+\//)
      if (fixture.kind === 'error') expect(kinds, fixture.name).toContain(fixture.expect)
      else {
        for (const member of fixture.extra) expect(fixture.result, fixture.name).toHaveProperty([member])
        for (const member of fixture.lacks) expect(fixture.result, fixture.name).not.toHaveProperty([member])
      }
    }
  })
})

describe('retryAfter.json', () => {
  test('names each case once', () => {
    expect(new Set(retryAfters.map(({ name }) => name)).size).toBe(retryAfters.length)
  })

  test.each(retryAfters)('$name is well formed', ({ expect: expected, why }) => {
    expect(expected).toSatisfy((wait: number | null) => wait === null || wait >= 0)
    expect(why).toMatch(/\S/)
  })
})

describe('batches.json', () => {
  test('has at least 30 cases, each named once', () => {
    expect(batches.length).toBeGreaterThanOrEqual(30)
    expect(new Set(batches.map(({ name }) => name)).size).toBe(batches.length)
  })

  test.each(batches)('$name is well formed', ({ appliesTo, methods, response, expect: { calls, limit }, why }) => {
    expect(appliesTo.length).toBeGreaterThan(0)
    expect(response.status).toSatisfy((status: number) => Number.isInteger(status) && status >= 200 && status < 600)
    for (const name of Object.keys(response.headers ?? {})) expect(name).toBe(name.toLowerCase())
    expect(calls).toHaveLength(methods.length)
    for (const call of calls) {
      expect(['result', 'kind', 'resent'].filter((end) => end in call)).toHaveLength(1)
      if (call.kind) expect(kinds).toContain(call.kind)
    }
    expect(limit !== undefined).toBe(calls.some(({ resent: again }) => again))
    expect(why).toMatch(/^\S.{6,}[.]$/)
  })
})

describe('rangeHints.json', () => {
  test('has at least 40 cases, each named once', () => {
    expect(rangeHints.length).toBeGreaterThanOrEqual(40)
    expect(new Set(rangeHints.map(({ name }) => name)).size).toBe(rangeHints.length)
  })

  test.each(rangeHints)('$name is well formed', ({ provider, appliesTo, expect: expected, why }) => {
    expect(provider).toMatch(/^[a-z\d.-]+$/)
    expect(appliesTo.length).toBeGreaterThan(0)
    const { fromBlock, toBlock, maxBlocks = 1 } = expected
    expect(fromBlock === undefined).toBe(toBlock === undefined)
    expect(maxBlocks).toBeGreaterThan(0)
    if (fromBlock !== undefined) expect(toBlock).toBeGreaterThanOrEqual(fromBlock)
    expect(why).toMatch(/^\S.{6,}[.?]$/)
  })
})

describe('adapters.json', () => {
  const { node, cases } = adapters

  test('has at least 90 cases, each named once', () => {
    expect(cases.length).toBeGreaterThanOrEqual(90)
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
  })

  test('has a node whose results all differ from one another', () => {
    const { accounts, contract } = node
    const said = [node.blockNumber, contract.response, node.transaction.hash, ...accounts.map(({ balance }) => balance)]
    expect(new Set(said).size).toBe(said.length)
    expect(contract.revert.data).toContain(contract.revert.args[0]?.slice(2))
    expect(BigInt(accounts[0]?.balance ?? 0)).toBeGreaterThan(Number.MAX_SAFE_INTEGER)
  })

  test.each(cases)('$name is well formed', ({ group, appliesTo, responses, do: acts, expect: expected, why }) => {
    expect(group).toMatch(/^[a-z]+$/)
    expect(appliesTo.length).toBeGreaterThan(0)
    for (const { status = 200, headers = {}, times = 1, body, items, fault } of responses) {
      expect(status).toSatisfy((code: number) => Number.isInteger(code) && code >= 200 && code < 600)
      for (const name of Object.keys(headers)) expect(name).toBe(name.toLowerCase())
      expect(times).toBeGreaterThan(0)
      expect([body, items, fault].filter((part) => part !== undefined).length).toBeLessThanOrEqual(1)
    }
    const calls = acts.flatMap((act) =>
      act.act === 'together' ? act.acts : act.act === 'balances' ? Array.from({ length: act.count }, () => act) : act,
    )
    const { ends, requests, waitMs } = expected
    if (typeof ends !== 'string') expect(ends).toHaveLength(calls.length)
    for (const end of [ends].flat()) expect(['right', 'failure', 'completed', 'revert', 'reason']).toContain(end)
    for (const { atLeast = 0, atMost = Infinity } of [requests, waitMs].filter((range) => range !== undefined))
      expect(atMost).toBeGreaterThanOrEqual(atLeast)
    expect(why).toMatch(/^\S.{6,}[.]$/)
  })
})
