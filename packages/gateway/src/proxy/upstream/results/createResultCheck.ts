import { scanItems, scanMembers } from '../../../lib/json/scanMembers.ts'
import type { Member } from '../../../lib/json/scanMembers.ts'
import type { OfferedMethod } from '../../../lib/methods.ts'
import { parseQuantity } from '../../../lib/rpc/quantity.ts'
import { parseBlockNumber, parseHash, parseMembers } from '../findPinnedBlock.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import { createItemsCheck } from './createItemsCheck.ts'
import type { ResultCheck } from './createItemsCheck.ts'
import { createLogCheck } from './createLogCheck.ts'

/** The members that an object must have, if it has them: hashes in lower case, or numbers. */
type Expected = readonly (readonly [name: string, value: string | number])[]

/** Filecoin, where a transaction is also found by the hash of its message, or of one that it replaced, but has the hash of its own. */
const severalHashes: ReadonlySet<number> = new Set([314, 314_159])

/** Creates the check of a call's result; `undefined` if nothing is known about it. */
export const createResultCheck = (
  { params = '[]', traits: { row } }: ForwardedCall,
  chainId: number,
): ResultCheck | undefined => {
  if (row?.shows === undefined) return undefined
  if (row.shows === 'logs') return createLogCheck(params)
  if (row.transaction !== undefined && severalHashes.has(chainId)) return undefined
  const expected = getExpected(row, params)
  if (expected.length === 0) return undefined
  if (row.shows === 'receipts') return createItemsCheck((text, members) => hasExpected(text, members, expected))
  let isRead = false
  return (part) => {
    if (isRead) return true
    isRead = true
    const whole = scanMembers(part)
    const text = whole === undefined ? closeBlock(part) : part
    return hasExpected(text, (whole ?? scanMembers(text))?.members ?? [], expected)
  }
}

/** Completes the first part of a large block, which is large for its transactions. */
const closeBlock = (part: string): string => part.slice(0, part.indexOf('"transactions"')).replace(/,\s*$/, '}')

const getExpected = (row: OfferedMethod, params: string): Expected => {
  const items = scanItems(params)?.items ?? []
  const get = (place = -1): string | undefined => {
    const item = items[place]
    return item && params.slice(item.start, item.end)
  }
  const { shows, transaction, blockHash, block } = row
  if (transaction !== undefined)
    return toExpected([shows === 'receipt' ? 'transactionHash' : 'hash', parseHash(get(transaction))])
  const [hashName, numberName] = shows === 'block' ? ['hash', 'number'] : ['blockHash', 'blockNumber']
  const place = blockHash ?? block
  const param = get(place)
  const named = param?.[0] === '{' ? parseMembers(param) : undefined
  const index = shows === 'transaction' && place !== undefined ? parseQuantity(get(place + 1) ?? '') : undefined
  const hash = parseHash(named === undefined ? param : named.get('blockHash'))
  return toExpected(
    [hashName, hash],
    // A hash that starts with zeros also reads as a number.
    [numberName, hash ? undefined : parseBlockNumber(named === undefined ? param : named.get('blockNumber'))],
    ['transactionIndex', index],
  )
}

const toExpected = (...given: readonly (readonly [string | undefined, string | number | undefined])[]): Expected =>
  given.flatMap(([name, value]) => (name === undefined || value === undefined ? [] : [[name, value] as const]))

const hasExpected = (text: string, members: readonly Member[], expected: Expected): boolean =>
  expected.every(([wanted, value]) => {
    const found = members.find(({ name }) => name === wanted)
    if (found === undefined) return true
    const source = text.slice(found.start, found.end)
    const read = typeof value === 'number' ? parseQuantity(source) : parseHash(source)
    return read === undefined || read === value
  })
