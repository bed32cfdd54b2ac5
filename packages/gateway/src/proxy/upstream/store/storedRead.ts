import { scanItems, scanMembers } from '../../../lib/json/scanMembers.ts'
import { parseQuantity, toHex } from '../../../lib/rpc/quantity.ts'
import { toEntryText } from '../../../storage/chainStore/storedCall.ts'
import type { StoredCall } from '../../../storage/chainStore/storedCall.ts'
import type { CallResult } from '../callResult.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import type { GroupMember } from '../groupMember.ts'
import { parseBlockNumber, parseHash } from '../findPinnedBlock.ts'
import type { Pin } from '../findPinnedBlock.ts'
import { isEmptyResult, saysNothing } from '../emptyResults.ts'
import type { SharedRead } from '../sharedRead.ts'
import { copyValue } from './copyValue.ts'
import type { NetworkStore } from './networkStore.ts'

const texts = /"(?:[^"\\]|\\.)*"|\s+/g
const hex = /^"0[xX][0-9a-fA-F]*"$/

/** Writes params in one spelling: without white space, hex in lower case, and the number of the block without leading zeros. */
const toCanonicalParams = (params: string, at: number): string => {
  const block = scanItems(params, 0, at + 1)?.items[at]
  const source = block && params.slice(block.start, block.end)
  // The hash of zeros is not block 0.
  const number = parseHash(source) === undefined ? parseBlockNumber(source) : undefined
  const spelled =
    block === undefined || number === undefined
      ? params
      : `${params.slice(0, block.start)}"${toHex(number)}"${params.slice(block.end)}`
  return spelled.replace(texts, (text) => (text[0] === '"' ? (hex.test(text) ? text.toLowerCase() : text) : ''))
}

/** Whether the store can have the result of a call. Logs are stored by what they cover instead. */
export const isStored = ({ traits: { pin } }: ForwardedCall, read: SharedRead | undefined): boolean =>
  pin !== undefined && pin.by !== 'logs' && read?.pin !== undefined

const toStoredCall = ({ method, params = '[]', traits }: ForwardedCall, client: string | undefined): StoredCall => ({
  method,
  params: toCanonicalParams(params, traits.pin?.at ?? 0),
  client,
})

/** Gets the texts that the store may find a call's result by: those of a trace have the clients of the nodes. */
export const toStoredTexts = (
  { clients }: Pick<NetworkStore, 'clients'>,
  chain: string,
  call: ForwardedCall,
): readonly string[] =>
  call.traits.pin?.isTrace === true
    ? clients.list().map((client) => toEntryText(chain, toStoredCall(call, client)))
    : [toEntryText(chain, toStoredCall(call, undefined))]

/** The member with the number of a block comes early. A larger result has its block among the params. */
const maxScannedBytes = 256 * 1024

/** Gets the number of the block that a result is of, or that its first item is of. */
const getBlockNumber = (value: Buffer | string): number | undefined => {
  if (value.length > maxScannedBytes) return undefined
  const text = value.toString('latin1')
  const start = text[0] === '[' ? scanItems(text, 0, 1)?.items[0]?.start : 0
  const members = start === undefined ? undefined : scanMembers(text, start)?.members
  const found = members?.filter(({ name }) => name === 'blockNumber' || name === 'number') ?? []
  const [only] = found
  if (only === undefined || found.length > 1) return undefined
  const number = text.slice(only.start, only.end)
  // Traces have it as a number.
  return /^\d{1,15}$/.test(number) ? Number(number) : parseQuantity(number)
}

/** Results that have the block of a transaction, or the number of a block, whose trace does not have it. */
const blockReads = {
  hash: [
    ['eth_getBlockByHash', ',false'],
    ['eth_getBlockByHash', ',true'],
  ],
  transaction: [
    ['eth_getTransactionReceipt', ''],
    ['eth_getTransactionByHash', ''],
  ],
} as const

/** Finds the number of the block that a trace is of, if something else is stored of its block or transaction. */
const findBlockNumber = async (
  { store }: NetworkStore,
  chain: string,
  { traits: { pin: rule }, params = '[]' }: ForwardedCall,
  pin: Pin,
): Promise<number | undefined> => {
  if (rule?.isTrace !== true || typeof pin === 'number') return undefined
  const item = scanItems(params, 0, rule.at + 1)?.items[rule.at]
  const hash = item && params.slice(item.start, item.end).toLowerCase()
  for (const [method, rest] of blockReads[pin]) {
    const found = await store.readEntry(`${chain} ${method} [${hash}${rest}]`)
    const block = found && getBlockNumber(Buffer.from(found))
    if (block !== undefined) return block
  }
  return undefined
}

/**
 * Stores the result of a call, if the node that sent it had reported the block as finalized before the call was sent. A result by a hash has to say which
 * block it is of, or, of a trace, something that is stored has to. An empty one is served once another node has sent it too, or the same one ten minutes
 * later; with `cache.confirm`, all are served once a node of another group has.
 */
export const storeResult = async (
  networkStore: NetworkStore,
  { call, read }: { readonly call: ForwardedCall; readonly read: SharedRead },
  { result, member }: { readonly result: CallResult; readonly member: GroupMember | undefined },
): Promise<void> => {
  const { store, getStorable, clients, addEntry } = networkStore
  if (member === undefined || !('value' in result) || result.member === 'error' || !isStored(call, read)) return
  const { pin, startedAt, isTrace } = read
  const storable = getStorable(member, startedAt)
  const client = isTrace ? clients.get(member) : undefined
  if (pin === undefined || storable === undefined || (isTrace && client === undefined)) return
  const { value } = result
  if (saysNothing(value)) return
  const { chain } = storable.source
  // A tracer of the caller decides what is in it.
  const own = typeof pin === 'number' ? pin : call.method.startsWith('debug_') ? undefined : getBlockNumber(value)
  const block = own ?? (await findBlockNumber(networkStore, chain, call, pin))
  if (block === undefined || block > storable.last) return
  const stored = toStoredCall(call, client)
  addEntry({
    ...storable.source,
    text: toEntryText(chain, stored),
    call: store.confirm ? stored : undefined,
    block,
    isEmpty: isEmptyResult(value),
    value: copyValue(value),
  })
}
