import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { parseBody } from './parseBody.ts'
import { readPlainRequest } from './readPlainRequest.ts'

/** For 100,000 cases on a busy machine. */
const fuzzTimeoutMs = 300_000

const value = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('"0x1"', '"latest"', 'true', 'null', '0', '-1.50', '{"to":"0x1"}', '{}', '"é😀"'),
  },
  { weight: 1, arbitrary: fc.string().map((text) => JSON.stringify(text)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '01',
      '1.',
      '1e3',
      '"\\u0041"',
      '"\u0001"',
      '{"a":{"b":1}}',
      '{"a":1,"a":2}',
      '[1]',
      '{"a"}',
      '{"a":}',
    ),
  },
)
const params = fc.array(value, { maxLength: 4 }).map((all) => `[${all.join(',')}]`)
const id = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('1', '0', '-3', '"a"', 'null', '9007199254740993') },
  { weight: 1, arbitrary: fc.constantFrom('1.0', '01', '"\\u0061"', 'true', '{}') },
)
const method = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('eth_call', 'eth_getBalance', 'a') },
  { weight: 1, arbitrary: fc.constantFrom('', 'eth call', 'é', 'eth_\\u0063all') },
)
const request = fc
  .tuple(id, method, params)
  .chain(([i, m, p]) =>
    fc.constantFrom(
      `{"jsonrpc":"2.0","id":${i},"method":"${m}","params":${p}}`,
      `{"jsonrpc":"2.0","id":${i},"method":"${m}"}`,
      `{"jsonrpc":"2.0","method":"${m}","params":${p},"id":${i}}`,
      `{"method":"${m}","params":${p},"id":${i},"jsonrpc":"2.0"}`,
      `{"jsonrpc":"2.0","id":${i},"id":${i},"method":"${m}","params":${p}}`,
      `{"jsonrpc":"1.0","id":${i},"method":"${m}","params":${p}}`,
      `{"jsonrpc":"2.0","id":${i},"method":"${m}","params":${p},"x":1}`,
    ),
  )
/** With a character taken out or put in, now and then. */
const spoiled = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(text, fc.nat(), fc.constantFrom('', '', '', ',', '}', ']', '"', '\\', ' ', '{'), fc.constantFrom(0, 0, 0, 1))
    .map(([whole, place, put, drop]) => {
      const at = place % (whole.length + 1)
      return whole.slice(0, at) + put + whole.slice(at + drop)
    })
const batch = fc.array(request, { maxLength: 4 }).map((items) => `[${items.join(',')}]`)
const body = fc.oneof(request, batch, spoiled(request), spoiled(batch))

test('the fast parser returns the same as the full parser', { timeout: fuzzTimeoutMs }, () => {
  let quick = 0
  fc.assert(
    fc.property(body, (text) => {
      if (readPlainRequest(text, text.startsWith('[') ? 1 : 0) !== undefined) quick += 1
      // A space in front is too much for the quick way.
      expect(parseBody(Buffer.from(text), 3)).toEqual(parseBody(Buffer.from(` ${text}`), 3))
    }),
    { numRuns: fuzzCases(2_000) },
  )
  expect(quick).toBeGreaterThan(fuzzCases(2_000) / 10)
})

test.each([
  ['viem and web3.js', '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":[{"to":"0x1","data":"0x"},"latest"]}'],
  ['ethers', '{"method":"eth_getBalance","params":["0x1","latest"],"id":1,"jsonrpc":"2.0"}'],
  ['web3.py', '{"jsonrpc":"2.0","method":"eth_getBlockByNumber","params":["0x1",false],"id":1}'],
])('requests as %s writes them are read quickly', (_, text) => {
  expect(readPlainRequest(text, 0)?.end).toBe(text.length)
})

test('a quarter of a megabyte of one param is read quickly, and more is read too', () => {
  for (const size of [250_000, 300_000, 1_900_000]) {
    const text = `{"jsonrpc":"2.0","id":1,"method":"eth_call","params":["${'x'.repeat(size)}"]}`
    expect(parseBody(Buffer.from(text), 1)).toMatchObject({ kind: 'single', call: { valid: true, id: '1' } })
  }
})
