import type { ChainWriter } from '../createChainWriter.ts'
import { readStoredCall } from '../storedCall.ts'
import type { UnconfirmedEntry } from '../createEntryTable.ts'
import { pickRanges } from '../pickRanges.ts'
import { getValidTo } from './createChainStates.ts'
import type { ChainStates } from './createChainStates.ts'
import type { AtomChange } from './createLoadedRows.ts'
import type { RedisAccess, RedisFunctions, SendCommand } from './createRedisAccess.ts'
import {
  readEntry,
  readRow,
  toEntryKey,
  toKey,
  toQueueKey,
  toRowsKey,
  toRowSource,
  toUnconfirmedRow,
  toValidRow,
  writeRow,
} from './redisRow.ts'
import type { StoredEntry, StoredRow } from './redisRow.ts'

/** The functions that choose what another node has to confirm. */
export type RedisQueues = RedisFunctions<Pick<ChainWriter, 'pickUnconfirmed' | 'pickEntries'>>

/** Most ranges that are looked at to choose those that one query confirms. */
const maxCandidates = 500
/** Calls do not wait for it. */
const waitMs = 2_000

/** Most that waits in a queue. What is forgotten is served once it was asked for again. */
const maxQueued = 100_000

const shorten = (send: SendCommand, key: string): Promise<number> =>
  send(key, (client) => client.zremrangebyrank(key, 0, -maxQueued - 1))

/** Notes which ranges another node has to confirm, and which not any more. */
export const queueRanges = async (
  send: SendCommand,
  chain: string,
  { f, removed, added }: AtomChange,
): Promise<void> => {
  const toMember = (text: string): string => `${Buffer.from(f).toString('base64url')} ${text}`
  const gone = removed.flatMap((text) => {
    const row = readRow(f, text)
    return row?.at === undefined ? [] : [{ row, text }]
  })
  await Promise.all([
    ...gone.map(({ row, text }) => {
      const key = toQueueKey('logs', chain, row.node)
      return send(key, (client) => client.zrem(key, toMember(text)))
    }),
    ...added.map(async (row) => {
      const key = toQueueKey('logs', chain, row.node)
      const { at } = row
      if (at === undefined) return
      await send(key, (client) => client.zadd(key, at, toMember(writeRow(f, row))))
      await shorten(send, key)
    }),
  ])
}

/** Notes a result that another node has to confirm. */
export const queueEntry = async (send: SendCommand, { chain, node }: StoredEntry, id: Buffer): Promise<void> => {
  const key = toQueueKey('calls', chain, node)
  await send(key, (client) => client.keyrailNumber(key, id.toString('base64url')))
  await shorten(send, key)
}

/** Notes that a result was confirmed, or contradicted. */
export const unqueueEntry = async (send: SendCommand, { chain, node }: StoredEntry, id: Buffer): Promise<void> => {
  const key = toQueueKey('calls', chain, node)
  await send(key, (client) => client.zrem(key, id.toString('base64url')))
}

/** A range of a queue, and what Redis has of it. */
interface QueuedRange {
  readonly member: string
  readonly f: Buffer
  readonly text: string
  readonly row: StoredRow
}

const readQueued = (member: string): QueuedRange | undefined => {
  const at = member.indexOf(' ')
  const f = Buffer.from(member.slice(0, at), 'base64url')
  const text = member.slice(at + 1)
  const row = readRow(f, text)
  return row && { member, f, text, row }
}

/** Creates the functions that choose what another node has to confirm. */
export const createQueues = (
  { run }: Pick<RedisAccess, 'run'>,
  states: ChainStates,
  now: () => number,
): RedisQueues => ({
  pickUnconfirmed: ({ chain, ...from }, { maxBlocks, waitMs: gatherMs, after = 0, ageMs }) =>
    run(waitMs, async (send) => {
      const key = toQueueKey('logs', chain, toRowSource({ chain, ...from }).node)
      const state = await states.load(chain, send)
      const members = await send(key, (client) =>
        client.zrangebyscore(key, `(${after}`, now() - ageMs, 'LIMIT', 0, maxCandidates),
      )
      const queued = members.flatMap((member) => readQueued(member) ?? [])
      const oldest = queued[0]?.row.at
      if (state === undefined || oldest === undefined || now() - oldest < gatherMs) return undefined
      const scores = await Promise.all(
        queued.map(({ f, text }) => send(toRowsKey(f), (client) => client.zscore(toRowsKey(f), text))),
      )
      // What Redis has deleted, or what was replaced, cannot be confirmed.
      const open = queued.flatMap((one, at) => {
        const row = scores[at] === null ? undefined : toValidRow(one.row, state)
        return row === undefined ? [] : { ...one, row }
      })
      const left = new Set(open.map(({ member }) => member))
      const gone = members.filter((member) => !left.has(member))
      if (gone.length > 0) await send(key, (client) => client.zrem(key, ...gone))
      const rows = open.map(({ f, row }) => toUnconfirmedRow(f, row))
      return pickRanges(rows, { maxBlocks, waitMs: gatherMs, upstream: from.upstream, now: now() })
    }),
  pickEntries: ({ chain, ...from }, { after, count }) =>
    run(waitMs, async (send) => {
      const key = toQueueKey('calls', chain, toRowSource({ chain, ...from }).node)
      const state = await states.load(chain, send)
      const list = await send(key, (client) =>
        client.zrangebyscore(key, `(${after}`, '+inf', 'WITHSCORES', 'LIMIT', 0, count),
      )
      const found: UnconfirmedEntry[] = []
      for (let at = 0; at < list.length; at += 2) {
        const name = list[at] ?? ''
        const id = Buffer.from(name, 'base64url')
        const bytes = await send(toEntryKey(id), (client) => client.getBuffer(toEntryKey(id)))
        const entry = bytes === null ? undefined : readEntry(id, bytes)
        const isOpen = entry !== undefined && entry.unconfirmed !== 0 && state !== undefined
        const call =
          isOpen && entry.block <= getValidTo(state, entry)
            ? readStoredCall(JSON.stringify(entry.call), { chain, isKey: (own) => toKey(own).equals(id) })
            : undefined
        if (call === undefined || entry === undefined) await send(key, (client) => client.zrem(key, name))
        else found.push({ number: Number(list[at + 1]), call, block: entry.block })
      }
      return found
    }),
})
