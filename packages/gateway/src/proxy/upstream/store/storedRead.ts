import { scanItems, scanMembers } from '../../../lib/json/scanMembers.ts'
import { parseQuantity, toHex } from '../../../lib/rpc/quantity.ts'
import type { AnswerSource } from '../../../storage/chainStore/createChainWriter.ts'
import type { CallResult } from '../callResult.ts'
import type { ForwardedCall } from '../forwardedCall.ts'
import type { GroupMember } from '../groupMember.ts'
import { parseBlockNumber } from '../findPinnedBlock.ts'
import type { SharedRead } from '../sharedRead.ts'
import type { NetworkStore } from './createNetworkStore.ts'

const texts = /"(?:[^"\\]|\\.)*"|\s+/g
const hex = /^"0[xX][0-9a-fA-F]*"$/

/** Writes params in one spelling: without white space, hex in lower case, and the number of the block without leading zeros. */
const toCanonicalParams = (params: string, at: number): string => {
  const block = scanItems(params, 0, at + 1)?.items[at]
  const number = block && parseBlockNumber(params.slice(block.start, block.end))
  const spelled =
    block === undefined || number === undefined
      ? params
      : `${params.slice(0, block.start)}"${toHex(number)}"${params.slice(block.end)}`
  return spelled.replace(texts, (text) => (text[0] === '"' ? (hex.test(text) ? text.toLowerCase() : text) : ''))
}

/** Gets the text that the store finds a call's result by; `undefined` if it stores none. Logs are stored by what they cover instead. */
export const toStoredText = (
  chain: string,
  { method, params = '[]', traits: { pin } }: ForwardedCall,
  read: SharedRead | undefined,
): string | undefined =>
  pin === undefined || read?.pin === undefined || pin.by === 'logs'
    ? undefined
    : `${chain} ${method} ${toCanonicalParams(params, pin.at)}`

/** What the store remembers of the node that an answer is from. */
export const toAnswerSource = ({ name, urlHash }: GroupMember, chain: string): AnswerSource => ({
  chain,
  upstream: name,
  node: urlHash,
})

/** What a node responds with that does not have the data (yet). */
const emptyResults: ReadonlySet<string> = new Set(['null', '[]', '"0x"', '{}'])
const maxEmptyLength = 4
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
  return only === undefined || found.length > 1 ? undefined : parseQuantity(text.slice(only.start, only.end))
}

/**
 * Stores the result of a call, if the node that sent it had reported the block as finalized before the call was sent. A result by a hash has to say which
 * block it is of.
 */
export const storeResult = (
  { store, getChainOf }: NetworkStore,
  { call, read }: { readonly call: ForwardedCall; readonly read: SharedRead },
  { result, member }: { readonly result: CallResult; readonly member: GroupMember | undefined },
): void => {
  if (member === undefined || !('value' in result) || result.member === 'error') return
  const { pin, startedAt } = read
  const chain = getChainOf(member, startedAt)
  const text = chain && toStoredText(chain, call, read)
  if (chain === undefined || text === undefined) return
  const { value } = result
  if (value.length <= maxEmptyLength && emptyResults.has(value.toString('latin1'))) return
  const block = typeof pin === 'number' ? pin : getBlockNumber(value)
  if (block === undefined || block > member.finality.finalizedBefore(startedAt)) return
  store.addEntry({
    ...toAnswerSource(member, chain),
    text,
    value: new Uint8Array(Buffer.from(value as string, 'latin1')),
  })
}
