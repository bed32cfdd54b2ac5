import { decode } from '@ethereumjs/rlp'

/** The contracts that a transaction runs or delegates accounts to: addresses in lower case. */
export interface TransactionTargets {
  /** `undefined` if it creates a contract. */
  readonly to: string | undefined
  /** @see EIP-7702 */
  readonly delegates: readonly string[]
}

/** Larger than any transaction with all its blobs. */
const maxBytes = 4 * 1024 * 1024

/** The index of `to` and the number of fields, by transaction type. Legacy transactions, which have no type, are 0. */
const layouts: ReadonlyMap<number, { readonly to: number; readonly fields: number; readonly creates: boolean }> =
  new Map([
    [0, { to: 3, fields: 9, creates: true }],
    [1, { to: 4, fields: 11, creates: true }],
    [2, { to: 5, fields: 12, creates: true }],
    [3, { to: 5, fields: 14, creates: false }],
    [4, { to: 5, fields: 13, creates: false }],
  ])

/** The number of parts of a blob transaction in network form: the transaction, blobs, commitments, proofs, and since EIP-7594 a version. */
const blobPartCounts: readonly number[] = [4, 5]

/**
 * Parses the targets of a signed transaction. It checks enough of the rest to be sure that a node decodes the same targets: the canonical
 * lengths of all fields, their number, and that nothing follows.
 * @param text - `0x` and hex, as for `eth_sendRawTransaction`: legacy, or type 1 to 4.
 * @returns `undefined` for any other value. Never throws.
 * @see EIP-2718, EIP-2930, EIP-1559, EIP-4844, EIP-7594, EIP-7702; Ethereum yellow paper, appendix B
 */
export const parseTransactionTargets = (text: unknown): TransactionTargets | undefined => {
  if (typeof text !== 'string' || !text.startsWith('0x') || text.length > 2 + 2 * maxBytes) return undefined
  const bytes = Buffer.from(text.slice(2), 'hex')
  // The decoder silently stops at the first character that is not hex.
  if (bytes.length * 2 !== text.length - 2 || bytes.length === 0) return undefined
  const first = bytes[0] ?? 0
  // A type is below 0x80, and a list starts with 0xc0 or more (EIP-2718).
  const type = first >= 0xc0 ? 0 : first
  const layout = layouts.get(type)
  if (layout === undefined || (type === 0 && first < 0xc0)) return undefined
  let fields = parseWholeList(type === 0 ? bytes : bytes.subarray(1))
  const inner = fields?.[0]
  if (type === 3 && fields !== undefined && inner?.list === true)
    fields = blobPartCounts.includes(fields.length) ? parseItems(inner.payload) : undefined
  if (fields?.length !== layout.fields) return undefined
  const to = fields[layout.to]
  const creates = layout.creates && to?.list === false && to.payload.length === 0
  const address = toAddress(to)
  const delegates = type === 4 ? parseDelegates(fields[authorizationsIndex]) : []
  return (address === undefined && !creates) || delegates === undefined ? undefined : { to: address, delegates }
}

const toAddress = (item: RlpItem | undefined): string | undefined =>
  item?.list === false && item.payload.length === 20 ? `0x${item.payload.toString('hex')}` : undefined

/** The index of the authorizations in a transaction of type 4, and of the address in each of them. */
const authorizationsIndex = 9
const delegateIndex = 1
const authorizationFieldCount = 6

/** More than a transaction of 128 KiB has, which is the most that nodes accept. */
const maxAuthorizations = 4096

const parseDelegates = (item: RlpItem | undefined): readonly string[] | undefined =>
  item?.list === true ? parseEach(item.payload, maxAuthorizations, parseDelegate) : undefined

const parseDelegate = (authorization: RlpItem): string | undefined => {
  const fields = authorization.list ? parseItems(authorization.payload) : undefined
  return fields?.length === authorizationFieldCount ? toAddress(fields[delegateIndex]) : undefined
}

/** Parses the list that must be all of the bytes. */
const parseWholeList = (bytes: Buffer): RlpItem[] | undefined => {
  const item = takeItem(bytes)
  return item?.list === true && item.rest.length === 0 ? parseItems(item.payload) : undefined
}

/** More than any transaction has fields. */
const maxItems = 16

const parseItems = (bytes: Buffer): RlpItem[] | undefined => parseEach(bytes, maxItems, (item) => item)

/** Parses each item. Stops at the first one that is invalid or too many. */
const parseEach = <T>(bytes: Buffer, most: number, parse: (item: RlpItem) => T | undefined): T[] | undefined => {
  const parsed: T[] = []
  for (let rest = bytes; rest.length > 0;) {
    const item = parsed.length < most ? takeItem(rest) : undefined
    const one = item && parse(item)
    if (item === undefined || one === undefined) return undefined
    parsed.push(one)
    rest = item.rest
  }
  return parsed
}

/** The first item of some bytes, and the bytes after it. */
interface RlpItem {
  readonly list: boolean
  /** The bytes of a string, or the encoded items of a list. */
  readonly payload: Buffer
  readonly rest: Buffer
}

/**
 * Changes a list's first byte in place, into that of a string of the same length. Otherwise the library would decode everything inside, and a body
 * of 2 MB with a list of empty strings would block all other requests for 0.6 seconds.
 */
const takeItem = (bytes: Buffer): RlpItem | undefined => {
  const first = bytes[0]
  if (first === undefined) return undefined
  const list = first >= 0xc0
  if (list) bytes[0] = first - 0x40
  try {
    const { data, remainder } = decode(bytes, true)
    // It slices what it gets, so these are Buffers that share its memory, except for an empty payload, which is a plain Uint8Array.
    return { list, payload: data as Buffer, rest: remainder as Buffer }
  } catch {
    return undefined
  }
}
