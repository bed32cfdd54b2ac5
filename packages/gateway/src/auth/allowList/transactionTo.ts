import { decode } from '@ethereumjs/rlp'

/** The target of a transaction: an address in lower case, or a new contract. */
export type TransactionTo = { readonly to: string } | { readonly creates: true }

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
 * Parses the target of a signed transaction. It checks enough of the rest to be sure that a node decodes the same target: the canonical
 * lengths of all fields, their number, and that nothing follows.
 * @param text - `0x` and hex, as for `eth_sendRawTransaction`: legacy, or type 1 to 4.
 * @returns `undefined` for any other value. Never throws.
 * @see EIP-2718, EIP-2930, EIP-1559, EIP-4844, EIP-7594, EIP-7702; Ethereum yellow paper, appendix B
 */
export const parseTransactionTo = (text: unknown): TransactionTo | undefined => {
  const parsed = parseFields(text)
  if (parsed === undefined) return undefined
  const { layout, fields } = parsed
  const to = fields[layout.to]
  if (to === undefined || to.list) return undefined
  if (to.payload.length === 20) return { to: `0x${to.payload.toString('hex')}` }
  return to.payload.length === 0 && layout.creates ? { creates: true } : undefined
}

/** The index of the authorizations in a transaction of type 4, and of the address in each of them. */
const authorizationsIndex = 9
const delegateIndex = 1
const authorizationFieldCount = 6

/**
 * Parses the delegates of a signed transaction: the contracts whose code it delegates accounts to.
 * @param text - As for `parseTransactionTo`.
 * @returns Addresses in lower case; empty if the type has no authorizations; `undefined` for any other value. Never throws.
 * @see EIP-7702
 */
export const parseDelegates = (text: unknown): readonly string[] | undefined => {
  const parsed = parseFields(text)
  if (parsed === undefined) return undefined
  const { type, fields } = parsed
  if (type !== 4) return []
  const list = fields[authorizationsIndex]
  const authorizations = list?.list === true ? parseItems(list.payload, maxBytes) : undefined
  const delegates: string[] = []
  for (const one of authorizations ?? []) {
    const parts = one.list ? parseItems(one.payload) : undefined
    const address = parts?.[delegateIndex]
    if (parts?.length !== authorizationFieldCount || address === undefined || address.list) return undefined
    if (address.payload.length !== 20) return undefined
    delegates.push(`0x${address.payload.toString('hex')}`)
  }
  return authorizations === undefined ? undefined : delegates
}

/** A transaction split into fields. */
interface Fields {
  readonly type: number
  readonly layout: { readonly to: number; readonly creates: boolean }
  readonly fields: readonly RlpItem[]
}

const parseFields = (text: unknown): Fields | undefined => {
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
  return fields?.length === layout.fields ? { type, layout, fields } : undefined
}

/** Parses the list that must be all of the bytes. */
const parseWholeList = (bytes: Buffer): RlpItem[] | undefined => {
  const item = takeItem(bytes)
  return item?.list === true && item.rest.length === 0 ? parseItems(item.payload) : undefined
}

/** More than any transaction has fields. Parsing stops there. */
const maxItems = 16

const parseItems = (bytes: Buffer, max = maxItems): RlpItem[] | undefined => {
  const items: RlpItem[] = []
  for (let rest = bytes; rest.length > 0;) {
    const item = takeItem(rest)
    if (item === undefined || items.length === max) return undefined
    items.push(item)
    rest = item.rest
  }
  return items
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
    // It slices what it gets, so the parts of a Buffer are Buffers that share its memory.
    return { list, payload: data as Buffer, rest: remainder as Buffer }
  } catch {
    return undefined
  }
}
