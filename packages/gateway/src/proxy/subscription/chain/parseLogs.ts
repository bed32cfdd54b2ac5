import { getMember, scanItems, scanMembers } from '../../../lib/json/scanMembers.ts'
import type { FollowedLog } from '../followedChain.ts'
import { parseHash } from '../../upstream/findPinnedBlock.ts'
import { parseBytes } from './parseBlock.ts'

/**
 * Parses the logs of a block.
 * @param text - The JSON text of a result of `eth_getLogs`.
 * @param blockHash - In lower case.
 * @returns `undefined` if they are not logs, or logs of another block.
 */
export const parseLogs = (text: string, blockHash: string): readonly FollowedLog[] | undefined => {
  const scanned = scanItems(text)
  if (scanned === undefined) return undefined
  const logs: FollowedLog[] = []
  for (const { start, end } of scanned.items) {
    const log = parseLog(text.slice(start, end), blockHash)
    if (log === undefined) return undefined
    logs.push(log)
  }
  return logs
}

const parseLog = (source: string, blockHash: string): FollowedLog | undefined => {
  const members = scanMembers(source)?.members ?? []
  let address: string | undefined
  let topics: readonly string[] | undefined
  let hash: string | undefined
  let isRemoved: string | undefined
  for (const { name, start, end } of members) {
    if (name === 'address') address = parseBytes(source.slice(start, end))
    else if (name === 'topics') topics = parseTopics(source.slice(start, end))
    else if (name === 'blockHash') hash = parseHash(source.slice(start, end))
    else if (name === 'removed') isRemoved = source.slice(start, end)
  }
  if (address === undefined || topics === undefined || hash !== blockHash) return undefined
  if (isRemoved === 'false') return { address, topics, text: source }
  // Some nodes send logs without `removed`.
  const others = members.filter(({ name }) => name !== 'removed')
  const parts = others.map(({ name, start, end }) => `${JSON.stringify(name)}:${source.slice(start, end)}`)
  return { address, topics, text: `{${[...parts, '"removed":false'].join(',')}}` }
}

const parseTopics = (source: string): readonly string[] | undefined => {
  const topics = scanItems(source)?.items.map(({ start, end }) => parseBytes(source.slice(start, end)))
  return topics?.every((topic) => topic !== undefined) === true ? topics : undefined
}

/**
 * Counts the logs of all receipts of a block.
 * @param text - The JSON text of a result of `eth_getBlockReceipts`.
 * @param transactions - How many transactions the block has.
 * @returns `undefined` if a receipt is missing.
 */
export const countReceiptLogs = (text: string, transactions: number): number | undefined => {
  const receipts = scanItems(text)
  if (receipts === undefined || receipts.count < transactions) return undefined
  let count = 0
  for (const { start } of receipts.items) {
    const items = scanItems(getMember(text, 'logs', start) ?? '', 0, 0)
    if (items === undefined) return undefined
    count += items.count
  }
  return count
}
