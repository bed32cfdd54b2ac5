import { isUtf8 } from 'node:buffer'
import { deepStrictEqual, ok } from 'node:assert/strict'
import fc from 'fast-check'
import { parseJwt, parseKid } from '../../src/auth/jwt/parseJwt.ts'
import { fromCursor, toCursor } from '../../src/control/cursor.ts'
import { normalizeAllowValue } from '../../src/control/normalizeAllowValue.ts'
import { isConfigError, parseServiceConfig } from '../../src/index.ts'
import { checkJson } from '../../src/lib/json/checkJson.ts'
import { createJsonScanner } from '../../src/lib/json/createJsonScanner.ts'
import { parsePath } from '../../src/proxy/http/parsePath.ts'
import { parseBody } from '../../src/proxy/request/parseBody.ts'
import { createFrameScanner } from '../../src/proxy/caller/webSocket/createFrameScanner.ts'
import { getSubscriptionBytes, parseSubscription } from '../../src/proxy/subscription/hub/parseSubscription.ts'
import { toSubscribeParams } from '../../src/proxy/subscription/hub/subscriptionRequest.ts'

/** A property of one parser. It fails by throwing. */
export type FuzzTarget = fc.IProperty<unknown>

const maxDepth = 64

/** A text with a few characters replaced, inserted or removed: nearly valid input reaches more of a parser than random input. */
const damaged = (texts: fc.Arbitrary<string>, characters: string): fc.Arbitrary<string> => {
  const edit = fc.record({
    at: fc.nat(10_000),
    removed: fc.nat(2),
    inserted: fc.string({ unit: fc.constantFrom(...characters), maxLength: 3 }),
  })
  return fc.tuple(texts, fc.array(edit, { maxLength: 3 })).map(([text, edits]) => {
    let edited = text
    for (const { at, removed, inserted } of edits) {
      const start = at % (edited.length + 1)
      edited = edited.slice(0, start) + inserted + edited.slice(start + removed)
    }
    return edited
  })
}

const jsonText = damaged(
  fc.oneof(
    fc.json(),
    fc.json().map((text) => ` ${text}\n`),
  ),
  '{}[],:"\\u0Ee+-.1 \n\u0000é\ud800',
)

/** @returns The value, or `undefined` if the text is not JSON. */
const readJson = (text: string): { readonly value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const getDepth = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(getDepth)) : 0

const callText = damaged(
  fc
    .record({
      jsonrpc: fc.constantFrom('2.0', '1.0'),
      id: fc.oneof(fc.nat(), fc.string()),
      method: fc.string(),
      params: fc.jsonValue(),
    })
    .chain((call) => fc.constantFrom(JSON.stringify(call), JSON.stringify([call, call]))),
  '{}[],:"\\u01 m',
)

const names = {
  byName: new Map([
    ['base-mainnet', 'base-mainnet'],
    ['8453', 'base-mainnet'],
  ]),
  hostSuffix: '.rpc.example.org',
}
const pathText = damaged(
  fc.constantFrom('/base-mainnet/v2/kr_abc', '/8453/kr_abc', '/v2/kr_abc', '/healthz', 'http://a/base-mainnet/v2'),
  '/%2f?#.\\:@vV2\u0000é',
)

const base64 = (text: string): string => Buffer.from(text).toString('base64url')
const jwtText = damaged(
  fc.tuple(jsonText, jsonText, fc.string()).map((parts) => parts.map(base64).join('.')),
  '.=-_+/A ',
)

const allowText = damaged(
  fc.constantFrom(
    'https://*.example.org:8443',
    '10.0.0.0/8',
    '2001:db8::/32',
    'eth_call',
    `0x${'aB'.repeat(20)}`,
    'curl/8',
  ),
  '*.:/[]@%0xfF é\u0000',
)

const config = {
  publicUrl: 'https://rpc.example.org',
  listen: { host: '127.0.0.1', port: 8080 },
  storage: { file: 'keyrail.db' },
  trustedProxies: ['10.0.0.0/8'],
  networks: {
    'base-mainnet': { upstreams: [{ url: 'http://10.0.0.6:8545', weight: 2 }], limits: { apps: { perSecond: 9 } } },
  },
  limits: { apps: { perSecond: 10, burst: 100, perDay: null }, weights: { eth_getLogs: 75 } },
  bounds: { maxBodyBytes: 1_000_000 },
}
/** The config with one member, at any depth, replaced. */
const configValue = fc.tuple(fc.nat(1_000), fc.jsonValue()).map(([at, value]) => {
  const copy = structuredClone(config) as Record<string, unknown>
  const places: (() => void)[] = []
  const collect = (object: Record<string, unknown>): void => {
    for (const [name, member] of Object.entries(object)) {
      places.push(() => (object[name] = value))
      if (typeof member === 'object' && member !== null) collect(member as Record<string, unknown>)
    }
  }
  collect(copy)
  places[at % places.length]?.()
  return copy
})

const digits = (count: number): fc.Arbitrary<string> =>
  fc.constantFrom('1', 'a', 'F').map((digit) => `0x${digit.repeat(count)}`)
const subscriptionLimits = { maxAddresses: 3, maxTopics: 5, fullTransactions: true }
const subscriptionText = damaged(
  fc
    .tuple(
      fc.constantFrom('logs', 'newHeads', 'newPendingTransactions', 'syncing'),
      fc.oneof(
        fc.boolean(),
        fc.record(
          {
            address: fc.oneof(digits(40), fc.array(digits(40), { maxLength: 4 })),
            topics: fc.array(fc.oneof(fc.constant(null), digits(64), fc.array(digits(64), { maxLength: 3 })), {
              maxLength: 5,
            }),
            fromBlock: fc.constantFrom('latest', '0x1', 'pending'),
          },
          { requiredKeys: [] },
        ),
      ),
      fc.option(
        fc.record({ cursor: fc.option(fc.record({ number: fc.constant('0x5'), hashes: fc.array(digits(64)) })) }),
      ),
    )
    .map(([kind, option, cursor]) =>
      JSON.stringify([
        kind,
        ...(kind === 'logs' || typeof option === 'boolean' ? [option] : []),
        ...(cursor ? [cursor] : []),
      ]),
    ),
  '{}[],:"0xfF n',
)

/** The frames of a WebSocket: whole messages, messages in fragments, and control frames between them. */
const frame = (opcode: number, payload: Uint8Array, isFinal: boolean): Buffer =>
  Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | opcode, 0x80 | payload.length]), Buffer.alloc(4), payload])
const payload = fc.uint8Array({ maxLength: 20 })
const controlFrame = fc.tuple(fc.constantFrom(9, 10), payload).map(([opcode, bytes]) => frame(opcode, bytes, true))
const messageFrames = fc
  .array(fc.tuple(payload, fc.array(controlFrame, { maxLength: 2 })), { minLength: 1, maxLength: 5 })
  .map((fragments) =>
    fragments.flatMap(([bytes, between], at) => [
      frame(at === 0 ? 1 : 0, bytes, at === fragments.length - 1),
      ...(at === fragments.length - 1 ? [] : between),
    ]),
  )

/** Every parser that reads what a caller or an operator sends. */
export const fuzzTargets: Readonly<Record<string, FuzzTarget>> = {
  path: fc.property(pathText, fc.constantFrom(undefined, 'base-mainnet.rpc.example.org', 'a.example'), (text, host) => {
    const path = parsePath(text, names, host)
    if (path.kind === 'call') ok(names.byName.has(path.network) && path.key?.includes('/') !== true)
    // A query never changes what is called.
    deepStrictEqual(parsePath(`${text}?a=/b`, names, host), path)
  }),

  json: fc.property(jsonText, fc.nat(20), (text, at) => {
    const bytes = Buffer.from(text)
    const read = readJson(bytes.toString())
    if (read !== undefined && getDepth(read.value) > maxDepth) return
    deepStrictEqual(checkJson(bytes, maxDepth), read === undefined ? 'malformed' : 'json')
    // In two chunks, as from a node.
    const scanner = createJsonScanner()
    const isRead = scanner.push(bytes.subarray(0, at)) && scanner.push(bytes.subarray(at)) && scanner.end()
    deepStrictEqual(isRead, read !== undefined)
  }),

  body: fc.property(fc.oneof(callText, jsonText), fc.uint8Array({ maxLength: 3 }), (text, noise) => {
    const body = Buffer.concat([Buffer.from(text), noise])
    const parsed = parseBody(body, 100, maxDepth)
    const read = isUtf8(body) ? readJson(body.toString()) : undefined
    if (read === undefined) ok(parsed.kind === 'malformed' || parsed.kind === 'tooDeep', parsed.kind)
    else if (Array.isArray(read.value))
      deepStrictEqual(parsed.kind === 'batch' ? parsed.calls.length : parsed.kind, read.value.length || 'emptyBatch')
    else deepStrictEqual(parsed.kind, 'single')
  }),

  batch: fc.property(
    fc.array(fc.oneof(callText, jsonText, fc.constantFrom('1', '{}', '{"jsonrpc":"2.0","id":1,"method":"eth_call"}')), {
      minLength: 1,
      maxLength: 8,
    }),
    (items) => {
      const valid = items.filter((item) => readJson(item) !== undefined && Buffer.from(item).toString() === item)
      if (valid.length === 0 || valid.some((item) => getDepth(JSON.parse(item)) > maxDepth - 2)) return
      const parsed = parseBody(Buffer.from(`[${valid.join(',')}]`), 100, maxDepth)
      ok(parsed.kind === 'batch')
      // Each call is what it is alone.
      for (const [at, item] of valid.entries()) {
        const alone = parseBody(Buffer.from(item), 100, maxDepth)
        if (alone.kind === 'single') deepStrictEqual(parsed.calls[at], alone.call)
      }
    },
  ),

  subscription: fc.property(fc.oneof(subscriptionText, jsonText), (text) => {
    if (readJson(text) === undefined) return
    const request = parseSubscription(text, subscriptionLimits)
    if ('reason' in request) return
    ok(getSubscriptionBytes(request) > 0)
    // An allow list checks these params after a change.
    const again = parseSubscription(toSubscribeParams(request), subscriptionLimits)
    ok(!('reason' in again))
    if (!('cursor' in request) || request.cursor === undefined) deepStrictEqual(again, request)
  }),

  fragments: fc.property(
    fc.array(
      fc.oneof(
        messageFrames,
        controlFrame.map((one) => [one]),
      ),
      { maxLength: 6 },
    ),
    fc.array(fc.nat(60), { maxLength: 20 }),
    (messages, cuts) => {
      const bytes = Buffer.concat(messages.flat())
      const scanner = createFrameScanner()
      const passed: Buffer[] = []
      const stored = { message: 0, control: 0 }
      let from = 0
      for (const length of [...cuts, bytes.length]) {
        for (const part of scanner.push(bytes.subarray(from, from + length))) {
          passed.push(part.bytes)
          const kind = part.isControl ? 'control' : 'message'
          if (part.isLast) stored[kind] = 0
          else if (part.isStored) stored[kind] += part.bytes.length
        }
        from = Math.min(bytes.length, from + length)
      }
      deepStrictEqual(Buffer.concat(passed), bytes)
      // All messages are complete.
      deepStrictEqual(stored, { message: 0, control: 0 })
    },
  ),

  jwt: fc.property(jwtText, (token) => {
    const parsed = parseJwt(token)
    parseKid(token)
    if (parsed !== undefined) deepStrictEqual(parsed.signed.toString(), token.slice(0, token.lastIndexOf('.')))
  }),

  allowValue: fc.property(
    fc.constantFrom('origin', 'ip', 'method', 'address', 'userAgent'),
    allowText,
    (type, text) => {
      const parsed = normalizeAllowValue(type, text)
      // A stored entry is read again, and must stay what it is.
      if ('rule' in parsed) deepStrictEqual(normalizeAllowValue(type, parsed.rule), parsed)
    },
  ),

  config: fc.property(configValue, (value) => {
    try {
      parseServiceConfig(value)
    } catch (error) {
      ok(isConfigError(error) && error.faults.length > 0)
    }
  }),

  cursor: fc.property(jsonText, fc.string(), fc.integer(), (text, word, number) => {
    const shape = ['number', 'string'] as const
    const read = fromCursor(base64(text), shape)
    if (read !== undefined) deepStrictEqual([typeof read[0], typeof read[1]], shape)
    if (!/\p{Cc}|\p{Cs}/u.test(word)) deepStrictEqual(fromCursor(toCursor([number, word]), shape), [number, word])
  }),
}
