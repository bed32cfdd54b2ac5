/** Where a transaction goes: an address in lower case, or a new contract. */
export type TransactionTo = { readonly to: string } | { readonly creates: true }

/** More than any transaction with all its blobs. */
const mostBytes = 4 * 1024 * 1024

/** An item of an RLP list: its payload from `start` up to, not including, `end`. */
interface RlpItem {
  readonly list: boolean
  readonly start: number
  readonly end: number
}

/** Where `to` stands, and how many fields there are, by the type's byte. 0 stands for a legacy transaction, which has none. */
const layouts: ReadonlyMap<number, { readonly to: number; readonly fields: number; readonly creates: boolean }> =
  new Map([
    [0, { to: 3, fields: 9, creates: true }],
    [1, { to: 4, fields: 11, creates: true }],
    [2, { to: 5, fields: 12, creates: true }],
    [3, { to: 5, fields: 14, creates: false }],
    [4, { to: 5, fields: 13, creates: false }],
  ])

/** A transaction's own fields, in the form that a blob travels in: with blobs, commitments, proofs, and since EIP-7594 a version. */
const blobParts: readonly number[] = [4, 5]

/**
 * Reads where a signed transaction goes, and as much of the rest as is needed to be sure that a node reads the same: the lengths of
 * all fields in their one canonical form, their number, and nothing after them.
 * @param text - `0x` and hex, as `eth_sendRawTransaction` takes it: legacy, or of type 1 to 4.
 * @returns `undefined` where the value is no such transaction. Never throws.
 * @see EIP-2718, EIP-2930, EIP-1559, EIP-4844, EIP-7594, EIP-7702; Ethereum yellow paper, appendix B
 */
export const readTransactionTo = (text: unknown): TransactionTo | undefined => {
  const read = readFields(text)
  if (read === undefined) return undefined
  const { bytes, layout, fields } = read
  const to = fields[layout.to]
  if (to === undefined || to.list) return undefined
  if (to.end - to.start === 20) return { to: `0x${bytes.toString('hex', to.start, to.end)}` }
  return to.end === to.start && layout.creates ? { creates: true } : undefined
}

/** Where a transaction of type 4 has its authorizations, and where each of them has its address. */
const authorizationsAt = 9
const delegateAt = 1
const authorizationFields = 6

/**
 * Reads the addresses that a signed transaction puts into accounts as their code.
 * @param text - As for `readTransactionTo`.
 * @returns In lower case; empty where the type has no authorizations; `undefined` where the value is no such transaction. Never throws.
 * @see EIP-7702
 */
export const readDelegates = (text: unknown): readonly string[] | undefined => {
  const read = readFields(text)
  if (read === undefined) return undefined
  const { bytes, type, fields } = read
  if (type !== 4) return []
  const list = fields[authorizationsAt]
  const authorizations = list?.list === true ? itemsOf(bytes, list.start, list.end, bytes.length) : undefined
  const delegates: string[] = []
  for (const one of authorizations ?? []) {
    const parts = one.list ? itemsOf(bytes, one.start, one.end) : undefined
    const address = parts?.[delegateAt]
    if (parts?.length !== authorizationFields || address === undefined || address.list) return undefined
    if (address.end - address.start !== 20) return undefined
    delegates.push(`0x${bytes.toString('hex', address.start, address.end)}`)
  }
  return authorizations === undefined ? undefined : delegates
}

/** A transaction, its fields found. */
interface Fields {
  readonly bytes: Buffer
  readonly type: number
  readonly layout: { readonly to: number; readonly creates: boolean }
  readonly fields: readonly RlpItem[]
}

const readFields = (text: unknown): Fields | undefined => {
  if (typeof text !== 'string' || !text.startsWith('0x') || text.length > 2 + 2 * mostBytes) return undefined
  const bytes = Buffer.from(text.slice(2), 'hex')
  // The decoder stops without a word at what is no hex.
  if (bytes.length * 2 !== text.length - 2 || bytes.length === 0) return undefined
  const first = bytes[0] ?? 0
  // A type's byte is below 0x80, and a list begins with 0xc0 or more (EIP-2718).
  const type = first >= 0xc0 ? 0 : first
  const layout = layouts.get(type)
  if (layout === undefined || (type === 0 && first < 0xc0)) return undefined
  let fields = wholeList(bytes, type === 0 ? 0 : 1)
  const inner = fields?.[0]
  if (type === 3 && fields !== undefined && inner?.list === true)
    fields = blobParts.includes(fields.length) ? itemsOf(bytes, inner.start, inner.end) : undefined
  return fields?.length === layout.fields ? { bytes, type, layout, fields } : undefined
}

/** The items of the list that begins at `at` and ends where the bytes do. */
const wholeList = (bytes: Buffer, at: number): RlpItem[] | undefined => {
  const list = itemAt(bytes, at, bytes.length)
  return list?.list === true && list.end === bytes.length ? itemsOf(bytes, list.start, list.end) : undefined
}

/** Longer than any transaction's list of fields: a longer one is not read to its end. */
const mostItems = 16

const itemsOf = (bytes: Buffer, start: number, end: number, most = mostItems): RlpItem[] | undefined => {
  const items: RlpItem[] = []
  for (let at = start; at < end;) {
    const item = itemAt(bytes, at, end)
    if (item === undefined || items.length === most) return undefined
    items.push(item)
    at = item.end
  }
  return items
}

/** The item that begins at `at`, which must end by `limit`. */
const itemAt = (bytes: Buffer, at: number, limit: number): RlpItem | undefined => {
  const first = bytes[at]
  if (first === undefined || at >= limit) return undefined
  if (first < 0x80) return { list: false, start: at, end: at + 1 }
  const list = first >= 0xc0
  const short = first - (list ? 0xc0 : 0x80)
  if (short <= 55) {
    const start = at + 1
    const end = start + short
    // A single small byte stands for itself, and has no other form.
    if (end > limit || (!list && short === 1 && (bytes[start] ?? 0) < 0x80)) return undefined
    return { list, start, end }
  }
  const width = short - 55
  const start = at + 1 + width
  // Six bytes of length are more than memory.
  if (width > 6 || start > limit || bytes[at + 1] === 0) return undefined
  const length = bytes.readUIntBE(at + 1, width)
  return length <= 55 || start + length > limit ? undefined : { list, start, end: start + length }
}
