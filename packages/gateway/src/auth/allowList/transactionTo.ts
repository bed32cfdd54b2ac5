/** The target of a transaction: an address in lower case, or a new contract. */
export type TransactionTo = { readonly to: string } | { readonly creates: true }

/** Larger than any transaction with all its blobs. */
const maxBytes = 4 * 1024 * 1024

/** An item of an RLP list. Its payload is from `start` to `end`, exclusive. */
interface RlpItem {
  readonly list: boolean
  readonly start: number
  readonly end: number
}

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
  const { bytes, layout, fields } = parsed
  const to = fields[layout.to]
  if (to === undefined || to.list) return undefined
  if (to.end - to.start === 20) return { to: `0x${bytes.toString('hex', to.start, to.end)}` }
  return to.end === to.start && layout.creates ? { creates: true } : undefined
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
  const { bytes, type, fields } = parsed
  if (type !== 4) return []
  const list = fields[authorizationsIndex]
  const authorizations = list?.list === true ? parseItems(bytes, list.start, list.end, bytes.length) : undefined
  const delegates: string[] = []
  for (const one of authorizations ?? []) {
    const parts = one.list ? parseItems(bytes, one.start, one.end) : undefined
    const address = parts?.[delegateIndex]
    if (parts?.length !== authorizationFieldCount || address === undefined || address.list) return undefined
    if (address.end - address.start !== 20) return undefined
    delegates.push(`0x${bytes.toString('hex', address.start, address.end)}`)
  }
  return authorizations === undefined ? undefined : delegates
}

/** A transaction split into fields. */
interface Fields {
  readonly bytes: Buffer
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
  let fields = parseWholeList(bytes, type === 0 ? 0 : 1)
  const inner = fields?.[0]
  if (type === 3 && fields !== undefined && inner?.list === true)
    fields = blobPartCounts.includes(fields.length) ? parseItems(bytes, inner.start, inner.end) : undefined
  return fields?.length === layout.fields ? { bytes, type, layout, fields } : undefined
}

/** Parses the list that starts at `at` and must end with the bytes. */
const parseWholeList = (bytes: Buffer, at: number): RlpItem[] | undefined => {
  const list = parseItem(bytes, at, bytes.length)
  return list?.list === true && list.end === bytes.length ? parseItems(bytes, list.start, list.end) : undefined
}

/** More than any transaction has fields. Parsing stops there. */
const maxItems = 16

const parseItems = (bytes: Buffer, start: number, end: number, max = maxItems): RlpItem[] | undefined => {
  const items: RlpItem[] = []
  for (let at = start; at < end;) {
    const item = parseItem(bytes, at, end)
    if (item === undefined || items.length === max) return undefined
    items.push(item)
    at = item.end
  }
  return items
}

/** Parses the item that starts at `at` and must end by `limit`. */
const parseItem = (bytes: Buffer, at: number, limit: number): RlpItem | undefined => {
  const first = bytes[at]
  if (first === undefined || at >= limit) return undefined
  if (first < 0x80) return { list: false, start: at, end: at + 1 }
  const list = first >= 0xc0
  const short = first - (list ? 0xc0 : 0x80)
  if (short <= 55) {
    const start = at + 1
    const end = start + short
    // A single byte below 0x80 encodes itself. Other encodings are not canonical.
    if (end > limit || (!list && short === 1 && (bytes[start] ?? 0) < 0x80)) return undefined
    return { list, start, end }
  }
  const width = short - 55
  const start = at + 1 + width
  // A length of more than six bytes exceeds any memory.
  if (width > 6 || start > limit || bytes[at + 1] === 0) return undefined
  const length = bytes.readUIntBE(at + 1, width)
  return length <= 55 || start + length > limit ? undefined : { list, start, end: start + length }
}
