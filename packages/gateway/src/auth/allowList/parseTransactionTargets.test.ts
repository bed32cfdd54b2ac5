import { cpuMs } from '@keyrail/core/test/cpuMs.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzCases } from '../../../test/fuzzCases.ts'
import { parseTransactionTargets } from './parseTransactionTargets.ts'

const target = { to: '0x1111111111111111111111111111111111111111' }

/** Parses only `to`, so that a creation differs from a text that is no transaction. */
const parseTo = (text: unknown): { to: string } | { creates: true } | undefined => {
  const targets = parseTransactionTargets(text)
  return targets && (targets.to === undefined ? { creates: true } : { to: targets.to })
}
const parseDelegates = (text: unknown): readonly string[] | undefined => parseTransactionTargets(text)?.delegates

/** Signed by a library, with 60 bytes of data, access lists and authorizations. The first is the example of EIP-155. */
const signed = [
  {
    name: 'legacy, of EIP-155',
    text: '0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83',
    to: { to: '0x3535353535353535353535353535353535353535' },
  },
  {
    name: 'legacy',
    text: '0xf8a9098504a817c800825208941111111111111111111111111111111111111111880de0b6b3a7640000b83cabababababababababababababababababababababababababababababababababababababababababababababababababababababababababababab25a0fda3d5f51bd0395e88e62db0a3a24a2296bf27b06c9cc2afc86a97a6eb2133b9a05ab1af58485583255498cfed3f0b35b60303639f6848760e3cb304eef8acaeac',
    to: target,
  },
  {
    name: 'legacy, creating a contract',
    text: '0xf895098504a817c80082520880880de0b6b3a7640000b83cabababababababababababababababababababababababababababababababababababababababababababababababababababababababababababab25a0429fbdd83f6b45696cd17ebbac0a8a81f4d5d145134bd914fbd438994de7b540a05228016b4ea44950ebf7d5d1867373544d30ff57751490dbdd0e63ed1c340fd7',
    to: { creates: true },
  },
  {
    name: 'type 1',
    text: '0x01f8e401098504a817c800825208941111111111111111111111111111111111111111880de0b6b3a7640000b83cababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababf838f7942222222222222222222222222222222222222222e1a0010101010101010101010101010101010101010101010101010101010101010180a0ea20b5efb3fbb5fcf2f863e18272f2db6ae0d69025fc6c18ce0d0a1a3e26acfba034b5f80ed3b9d1570556eebf9dfa5b382034976cddeadda86fd22b44c54685e8',
    to: target,
  },
  {
    name: 'type 2',
    text: '0x02f8e50109018504a817c800825208941111111111111111111111111111111111111111880de0b6b3a7640000b83cababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababf838f7942222222222222222222222222222222222222222e1a0010101010101010101010101010101010101010101010101010101010101010101a09061cbd38f38efb3b8a66e034158ae5c64b8bcb34d5bc71ffad7625aac3d7b98a053be7452cb27bc8b8a961a2c5002c7c89999a95918a846147072580e51f6a7dd',
    to: target,
  },
  {
    name: 'type 2, creating a contract',
    text: '0x02f8980109018504a817c80082520880880de0b6b3a7640000b83cababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababc080a08e71bc0dea69d6512f046b14da890285c20db2a0928d37dd5db7f79d49620e3ba01ca63c911943d46be91d5cc58c1cc0f473d58f62927395e4c9596124f1be86a4',
    to: { creates: true },
  },
  {
    name: 'type 3',
    text: '0x03f8cf0109018504a817c800825208941111111111111111111111111111111111111111880de0b6b3a7640000b83cababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababc003e1a0010505050505050505050505050505050505050505050505050505050505050580a0342b4fbcef88400a83ab3f54248f8ea9553321d89eb9c40c5f1b55e4ffaa3b01a01b52f0e9e294f005d9cd2dae421646f99e9096d98ec8243077ff120b2088491c',
    to: target,
  },
  {
    name: 'type 4',
    text: '0x04f9010a0109018504a817c800825208941111111111111111111111111111111111111111880de0b6b3a7640000b83cababababababababababababababababababababababababababababababababababababababababababababababababababababababababababababc0f85cf85a019433333333333333333333333333333333333333330101a038b61bd09ec7aa1456f30d2eaf09ecd4b11a327d0cb2fac01c04011041fbd3cca033221e0ebd7140310e32b78a05b1d0c639bf27e959fe1da1b06cc6a06a5abadd01a06c7915f7b7a05d3da9587a027e3ab64c10c57d89bf55feee122d0087f17a2caaa07bababf971e69ed1406ff611b01650ac611452cd5ffba6b5624f9a2b4246772e',
    to: target,
  },
]

type Rlp = Buffer | readonly Rlp[]

const lengthBytes = (length: number): Buffer => {
  const hex = length.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}
const headed = (payload: Buffer, offset: number): Buffer => {
  if (payload.length <= 55) return Buffer.concat([Buffer.of(offset + payload.length), payload])
  const length = lengthBytes(payload.length)
  return Buffer.concat([Buffer.of(offset + 55 + length.length), length, payload])
}
const encode = (value: Rlp): Buffer => {
  if (!Buffer.isBuffer(value)) return headed(Buffer.concat(value.map(encode)), 0xc0)
  return value.length === 1 && (value[0] ?? 0) < 0x80 ? value : headed(value, 0x80)
}

/** Reads one item without asking whether its form is the canonical one; the items of a list stay bytes. */
const decode = (bytes: Buffer): { list: boolean; payload: Buffer; rest: Buffer } | undefined => {
  const [first] = bytes
  if (first === undefined) return undefined
  if (first < 0x80) return { list: false, payload: bytes.subarray(0, 1), rest: bytes.subarray(1) }
  const list = first >= 0xc0
  const count = first - (list ? 0xc0 : 0x80)
  const width = Math.max(0, count - 55)
  if (bytes.length < 1 + width) return undefined
  const length = width === 0 ? BigInt(count) : BigInt(`0x${bytes.toString('hex', 1, 1 + width)}`)
  if (length > BigInt(bytes.length - 1 - width)) return undefined
  const end = 1 + width + Number(length)
  const payload = bytes.subarray(1 + width, end)
  // Valid RLP, but no field of a transaction is a list of one small number, so nodes reject it too.
  if (list && payload.length === 1 && (payload[0] ?? 0) < 0x80) return undefined
  return { list, payload, rest: bytes.subarray(end) }
}
const splitList = (payload: Buffer): { list: boolean; payload: Buffer; whole: Buffer }[] | undefined => {
  const items = []
  for (let rest = payload; rest.length > 0;) {
    const item = decode(rest)
    if (item === undefined) return undefined
    items.push({ ...item, whole: item.list ? headed(item.payload, 0xc0) : encode(item.payload) })
    rest = item.rest
  }
  return items
}

const layouts: Readonly<Record<number, readonly [to: number, count: number]>> = {
  0: [3, 9],
  1: [4, 11],
  2: [5, 12],
  3: [5, 14],
  4: [5, 13],
}

const areAuthorizations = (field: { list: boolean; payload: Buffer } | undefined): boolean => {
  const split = (payload: Buffer): ReturnType<typeof splitList> => {
    const items = splitList(payload)
    return items !== undefined && Buffer.concat(items.map(({ whole }) => whole)).equals(payload) ? items : undefined
  }
  const list = field?.list === true ? split(field.payload) : undefined
  return (
    list?.every(({ list: isList, payload }) => {
      const parts = isList ? split(payload) : undefined
      return parts?.length === 6 && parts[1]?.list === false && parts[1].payload.length === 20
    }) === true
  )
}

/** Reference implementation: decodes everything, encodes it in canonical form and compares the bytes. */
const parseByReencoding = (bytes: Buffer): ReturnType<typeof parseTo> => {
  const [first = 0x80] = bytes
  const type = first >= 0xc0 ? 0 : first
  const [at, count] = layouts[type] ?? []
  if (at === undefined || (type === 0 && first < 0xc0)) return undefined
  const open = (body: Buffer): ReturnType<typeof splitList> => {
    const list = decode(body)
    const items = list?.list === true && list.rest.length === 0 ? splitList(list.payload) : undefined
    if (items === undefined || !headed(Buffer.concat(items.map((item) => item.whole)), 0xc0).equals(body))
      return undefined
    return items
  }
  let fields = open(bytes.subarray(type === 0 ? 0 : 1))
  if (type === 3 && fields?.[0]?.list === true)
    fields = fields.length === 4 || fields.length === 5 ? open(fields[0].whole) : undefined
  const to = fields?.[at]
  if (fields?.length !== count || to === undefined || to.list) return undefined
  if (type === 4 && !areAuthorizations(fields?.[9])) return undefined
  if (to.payload.length === 20) return { to: `0x${to.payload.toString('hex')}` }
  return to.payload.length === 0 && type <= 2 ? { creates: true } : undefined
}

describe('parseTransactionTargets', () => {
  test.each(signed)('parses a transaction: $name', ({ text, to }) => {
    expect(parseTo(text)).toEqual(to)
    expect(parseTo(`0x${text.slice(2).toUpperCase()}`)).toEqual(to)
    expect(parseByReencoding(Buffer.from(text.slice(2), 'hex'))).toEqual(to)
  })

  test('parses a blob transaction with its blobs in both versions, but with no other parts', () => {
    const [, , , , , , t3] = signed
    const inner = decode(Buffer.from((t3?.text ?? '').slice(4), 'hex'))?.payload ?? Buffer.alloc(0)
    const wrap = (more: readonly Rlp[]): string =>
      `0x03${headed(Buffer.concat([headed(inner, 0xc0), ...more.map(encode)]), 0xc0).toString('hex')}`
    const blobs = [Buffer.alloc(131_072, 1)]
    expect(parseTo(wrap([blobs, [Buffer.alloc(48)], [Buffer.alloc(48)]]))).toEqual(target)
    expect(parseTo(wrap([Buffer.of(1), blobs, [Buffer.alloc(48)], [Buffer.alloc(48)]]))).toEqual(target)
    expect(parseTo(wrap([]))).toBeUndefined()
    expect(parseTo(wrap([blobs, blobs, blobs, blobs, blobs]))).toBeUndefined()
  })

  test('parses up to 4096 delegates of type 4, and none of other types', () => {
    const delegate = `0x${'33'.repeat(20)}`
    for (const { name, text } of signed) expect(parseDelegates(text)).toEqual(name === 'type 4' ? [delegate] : [])
    const bytes = Buffer.from(signed.find(({ name }) => name === 'type 4')?.text.slice(4) ?? '', 'hex')
    const fields = (splitList(decode(bytes)?.payload ?? Buffer.alloc(0)) ?? []).map(({ whole }) => whole)
    const one = [Buffer.of(1), Buffer.alloc(20, 0x33), Buffer.of(1), Buffer.of(1), Buffer.of(1), Buffer.of(1)]
    const withList = (list: Rlp): string =>
      `0x04${headed(Buffer.concat([...fields.slice(0, 9), encode(list), ...fields.slice(10)]), 0xc0).toString('hex')}`
    expect(parseDelegates(withList(Array.from({ length: 4096 }, () => one)))).toEqual(
      Array.from({ length: 4096 }, () => delegate),
    )
    expect(parseDelegates(withList(Array.from({ length: 4097 }, () => one)))).toBeUndefined()
    expect(parseDelegates(withList([]))).toEqual([])
    for (const bad of [
      [one.slice(1)],
      [Buffer.alloc(20, 0x33)],
      Buffer.of(1),
      [[...one.slice(0, 1), Buffer.alloc(19), ...one.slice(2)]],
    ])
      expect(parseDelegates(withList(bad))).toBeUndefined()
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a number', 1],
    ['not hex', '0xzz'],
    ['an odd digit', `${signed[0]?.text ?? ''}0`],
    ['no 0x', (signed[0]?.text ?? '').slice(2)],
    ['0X', (signed[0]?.text ?? '').replace('0x', '0X')],
    ['hex with an invalid end', (signed[0]?.text ?? '').replace(/..$/, 'zz')],
    ['empty bytes', '0x'],
    ['an empty list', '0xc0'],
    ['a type 0 prefix', '0x00c0'],
    ['type 5', (signed[4]?.text ?? '').replace('0x02', '0x05')],
    ['an extra byte', `${signed[0]?.text ?? ''}00`],
    ['a missing byte', (signed[0]?.text ?? '').slice(0, -2)],
    ['a string in place of the list', '0xb8500000'],
    ['a length of eight bytes', `0xff${'ff'.repeat(8)}`],
    ['a length with a leading zero', (signed[0]?.text ?? '').replace('0xf86c', '0xf9006c')],
    [
      'a short string with a long header',
      (signed[0]?.text ?? '').replace('0xf86c', '0xf86d').replace('9435', 'b81435'),
    ],
    ['type 3 that creates', (signed[6]?.text ?? '').replace(`94${'11'.repeat(20)}`, '80').replace('03f8cf', '03f8bb')],
  ])('rejects %s', (_name, value) => {
    expect(parseTo(value)).toBeUndefined()
  })

  test('rejects texts larger than any transaction quickly', () => {
    const long = `0x${'f8'.repeat(20_000_000)}`
    expect(cpuMs(() => expect(parseTo(long)).toBeUndefined())).toBeLessThan(500)
  })

  test.each<[string, Buffer, unknown]>([
    ['0x02', Buffer.concat([Buffer.alloc(11, 0x80), headed(Buffer.alloc(1024 * 1024, 0x80), 0xc0)]), { creates: true }],
    [
      '0x04',
      Buffer.concat([
        Buffer.alloc(5, 0x80),
        headed(Buffer.alloc(20), 0x80),
        Buffer.alloc(3, 0x80),
        headed(Buffer.alloc(1024 * 1024, 0x80), 0xc0),
        Buffer.alloc(3, 0x80),
      ]),
      undefined,
    ],
  ])('a transaction of type %s with a long list is parsed quickly', (type, fields, to) => {
    const text = `${type}${headed(fields, 0xc0).toString('hex')}`
    expect(cpuMs(() => expect(parseTo(text)).toEqual(to))).toBeLessThan(100)
  })

  const bytesUpTo = (most: number): fc.Arbitrary<Buffer> =>
    fc.uint8Array({ maxLength: most }).map((bytes) => Buffer.from(bytes))
  const field = fc.oneof(
    { weight: 8, arbitrary: bytesUpTo(32) as fc.Arbitrary<Rlp> },
    { weight: 1, arbitrary: bytesUpTo(300) as fc.Arbitrary<Rlp> },
    { weight: 1, arbitrary: fc.array(bytesUpTo(40), { maxLength: 3 }) as fc.Arbitrary<Rlp> },
  )
  const authorization = fc
    .tuple(fc.constantFrom(20, 20, 20, 0, 19, 21), fc.array(bytesUpTo(32), { minLength: 4, maxLength: 4 }))
    .map(([width, numbers]): Rlp => [Buffer.of(1), Buffer.alloc(width, 3), ...numbers])
  const whole = fc
    .tuple(
      fc.constantFrom(0, 1, 2, 3, 4),
      fc.array(field, { minLength: 14, maxLength: 14 }),
      fc.constantFrom(20, 20, 20, 0, 19, 21),
      fc.array(authorization, { maxLength: 2 }),
    )
    .map(([type, random, width, authorizations]) => {
      const [at = 0, count = 0] = layouts[type] ?? []
      const fields = type === 4 ? random.with(9, authorizations) : random
      const body = encode([...fields.slice(0, at), Buffer.alloc(width, 7), ...fields.slice(at + 1)].slice(0, count))
      return type === 0 ? body : Buffer.concat([Buffer.of(type), body])
    })
  /** A transaction with up to three bytes set, removed or inserted. */
  const changed = fc
    .tuple(
      whole,
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.constantFrom('set', 'cut', 'add'),
          fc.oneof(fc.constantFrom(0x80, 0x81, 0xb8, 0xb9, 0xc0, 0xf8, 0xf9, 0, 1), fc.nat(255)),
        ),
        { minLength: 1, maxLength: 3 },
      ),
    )
    .map(([bytes, changes]) => {
      const list = [...bytes]
      // Mostly near the start, because the headers are there.
      for (const [place, kind, byte] of changes)
        list.splice(place % Math.min(list.length + 1, 60), kind === 'add' ? 0 : 1, ...(kind === 'cut' ? [] : [byte]))
      return Buffer.from(list)
    })

  test('agrees with re-encoding, on intact and on modified bytes', () => {
    fc.assert(
      fc.property(fc.oneof({ weight: 3, arbitrary: whole }, { weight: 7, arbitrary: changed }), (bytes) => {
        const expected = parseByReencoding(bytes)
        expect(parseTo(`0x${bytes.toString('hex')}`)).toEqual(expected)
      }),
      { numRuns: fuzzCases(2_000) },
    )
  })
})
