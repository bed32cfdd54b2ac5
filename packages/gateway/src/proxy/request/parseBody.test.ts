import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseBody } from './parseBody.ts'

const parse = (text: string, maxItems = 100): ReturnType<typeof parseBody> => parseBody(Buffer.from(text), maxItems)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Classifies a value according to JSON-RPC 2.0, without the code of parseBody. Ignores repeated names. */
const isRequest = (value: unknown): boolean => {
  if (!isObject(value) || value['jsonrpc'] !== '2.0' || typeof value['method'] !== 'string') return false
  return !Object.hasOwn(value, 'id') || value['id'] === null || ['string', 'number'].includes(typeof value['id'])
}

const member = fc.constantFrom<[string, unknown]>(
  ['jsonrpc', '2.0'],
  ['jsonrpc', '2.0'],
  ['jsonrpc', 2],
  ['method', 'eth_call'],
  ['method', 'eth_call'],
  ['method', ''],
  ['method', null],
  ['id', 1],
  ['id', 'x'],
  ['id', null],
  ['id', true],
  ['id', {}],
  ['params', []],
  ['params', {}],
  ['params', [1, { a: '}' }]],
  ['params', 'x'],
  ['extra', 1],
)
const item = fc.oneof(
  { weight: 5, arbitrary: fc.array(member, { maxLength: 6 }).map((members): unknown => Object.fromEntries(members)) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(1, null, 'x', [], [1], true) },
)

describe('parseBody', () => {
  test('accepts exactly the JSON that JSON.parse accepts', () => {
    const parts = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        '"a"',
        '"id"',
        ':',
        ',',
        ' ',
        '1',
        '01',
        '-',
        'null',
        'nul',
        '\\',
        '"',
        '\u{feff}',
        '\u0000',
      ),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(
        fc.oneof(
          parts.map((all) => all.join('')),
          fc.json(),
          fc.string(),
        ),
        (text) => {
          // UTF-8 replaces a lone surrogate, so compare the decoded text.
          const sent = Buffer.from(text).toString()
          let well = true
          try {
            JSON.parse(sent)
          } catch {
            well = false
          }
          expect(parse(sent).kind === 'malformed').toBe(!well)
        },
      ),
      { numRuns: 5_000 },
    )
  })

  test('finds in a single request what JSON.parse finds', () => {
    fc.assert(
      fc.property(
        item.filter((value) => !Array.isArray(value)),
        (value) => {
          const parsed = parse(JSON.stringify(value, null, 1))
          expect(parsed.kind).toBe('single')
          if (parsed.kind !== 'single') return
          expect(parsed.call.valid).toBe(isRequest(value))
          if (!parsed.call.valid || !isObject(value)) return
          expect(parsed.call.method).toBe(value['method'])
          expect(parsed.call.id).toBe(Object.hasOwn(value, 'id') ? JSON.stringify(value['id']) : undefined)
          const { params } = parsed.call
          expect(params === undefined ? undefined : JSON.parse(params)).toEqual(value['params'])
          expect(parsed.call.paramsFit).toBe(value['params'] === undefined || typeof value['params'] === 'object')
        },
      ),
      { numRuns: 3_000 },
    )
  })

  test('parses each call of a batch as it would parse it alone', () => {
    fc.assert(
      fc.property(fc.array(item, { maxLength: 12 }), (items) => {
        const alone = items.map((value) => {
          const parsed = parse(JSON.stringify(value))
          return parsed.kind === 'single' ? parsed.call : { valid: false, id: 'null' }
        })
        const batch =
          items.length > 10 ? { kind: 'batchTooLarge', count: items.length } : { kind: 'batch', calls: alone }
        expect(parse(JSON.stringify(items), 10)).toEqual(items.length === 0 ? { kind: 'emptyBatch' } : batch)
      }),
      { numRuns: 2_000 },
    )
  })

  test('rejects a repeated name, however it is spelled', () => {
    fc.assert(
      fc.property(fc.constantFrom('id', 'method', 'params', 'jsonrpc', 'extra'), fc.boolean(), (name, escaped) => {
        const again = escaped ? `\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${name.slice(1)}` : name
        const values: Record<string, string> = {
          id: '1',
          method: '"eth_call"',
          params: '[]',
          jsonrpc: '"2.0"',
          extra: '0',
        }
        const members = Object.entries(values).map(([key, value]) => `"${key}":${value}`)
        expect(parse(`{${members.join(',')}}`)).toMatchObject({ call: { valid: true } })
        expect(parse(`{${members.join(',')},"${again}":${values[name]}}`)).toEqual({
          kind: 'single',
          call: { valid: false, id: name === 'id' ? 'null' : '1' },
        })
      }),
    )
  })
})
