import { createAnswerWriter, toAtomKeyText } from '../createAnswerWriter.ts'
import type { AnswerWriter, LogAnswer } from '../createAnswerWriter.ts'
import { intersect } from '../blockRanges.ts'
import type { BlockRange } from '../blockRanges.ts'
import type { ChainFileStats } from '../createChainUpkeep.ts'
import type { ChainWriter } from '../createChainWriter.ts'
import { maxJoinedBytes } from '../createSpanTable.ts'
import { toAtoms } from '../logQuery.ts'
import { createChainStates } from './createChainStates.ts'
import type { ChainState } from './createChainStates.ts'
import { readCacheMemory } from './checkCacheRedis.ts'
import { createLoadedRows, widen } from './createLoadedRows.ts'
import type { AtomChange, LoadedRows } from './createLoadedRows.ts'
import type { RedisAccess, SendCommand } from './createRedisAccess.ts'
import { createQueues, queueEntry, queueRanges } from './createQueues.ts'
import { readRows, readValues } from './readRows.ts'
import {
  readEntry,
  toEntryKey,
  toEntryRow,
  toKey,
  toRowsKey,
  toSpanRow,
  toUnconfirmedRow,
  toValidRow,
  toValueKey,
  writeEntry,
  writeRow,
} from './redisRow.ts'
import type { StoredRow } from './redisRow.ts'

/** The functions of the thread that writes to Redis, which deletes what was not used for longest itself. */
export type RedisWriter = {
  readonly [Name in Exclude<keyof ChainWriter, 'noteRows' | 'evict'>]: (
    ...args: Parameters<ChainWriter[Name]>
  ) => Promise<ReturnType<ChainWriter[Name]>>
}

/** Nobody waits for a write. */
const waitMs = 2_000
/** How often a decision is made again because another instance has changed an atom. */
const maxTries = 5
/** Most bytes of ranges that one answer confirms. */
const maxLoadedBytes = 64 * 1024 * 1024

/** Reads what Redis has of an atom in a range, and the logs that a decision may need. */
const loadAtom = async (
  send: SendCommand,
  rows: LoadedRows,
  { f, range, state }: { readonly f: Uint8Array; readonly range: BlockRange; readonly state: ChainState },
): Promise<number> => {
  const found: { readonly row: StoredRow; readonly text: string }[] = []
  for (const { row, text } of await readRows(send, f, widen(range))) {
    const valid = row && toValidRow(row, state)
    if (valid !== row || row === undefined) rows.loadVoid(f, text)
    if (valid !== undefined) found.push({ row: valid, text: valid === row ? text : '' })
  }
  const withLogs = found.filter(({ row }) => row.value !== 0 && row.first <= range.last + 1)
  // Of those that are large and known, only whether Redis still has them.
  const isRead = ({ row }: { readonly row: StoredRow }): boolean =>
    row.at === undefined ? row.size <= maxJoinedBytes : intersect(row, range) !== undefined
  const read = withLogs.filter(isRead)
  const bytes = read.reduce((sum, { row }) => sum + row.size, 0)
  if (bytes > maxLoadedBytes) throw new Error('an answer is about too much that is stored')
  const [values, exist] = await Promise.all([
    readValues(
      send,
      f,
      read.map(({ row }) => row.value),
    ),
    Promise.all(
      withLogs
        .filter((one) => !isRead(one))
        .map(({ row }) => send(toRowsKey(f), (client) => client.exists(toValueKey(f, row.value)))),
    ),
  ])
  const missing = new Set([
    ...read.flatMap(({ row }) => (values.has(row.value) ? [] : row.value)),
    ...withLogs.filter((one) => !isRead(one)).flatMap(({ row }, at) => (exist[at] === 1 ? [] : row.value)),
  ])
  for (const [id, value] of values) rows.loadValue(f, id, value)
  for (const { row, text } of found)
    if (missing.has(row.value)) rows.loadVoid(f, text)
    else
      rows.load(row.at === undefined ? toSpanRow(f, row) : toUnconfirmedRow(f, row), {
        stored: row,
        text: text === '' ? undefined : text,
      })
  return bytes
}

/** Writes what a decision has changed of an atom. @returns Whether it was still as it was loaded. */
const coverAtom = async (send: SendCommand, change: AtomChange): Promise<boolean> => {
  const { f, removed, voided, added, values, deletedValues } = change
  const key = toRowsKey(f)
  const keys = [key, ...[...values.keys(), ...deletedValues].map((id) => toValueKey(f, id))]
  const rows = added.flatMap((row) => [row.first, row.last, writeRow(f, row)])
  const counts = [removed.length, voided.length, added.length, values.size]
  return (
    (await send(key, (client) =>
      client.keyrailCover(keys.length, ...keys, ...counts, ...removed, ...voided, ...rows, ...values.values()),
    )) === 1
  )
}

/** Creates the functions that write to Redis. @param options.now - Milliseconds since 1970. */
export const createRedisWriter = (
  access: RedisAccess,
  { now = Date.now }: { readonly now?: () => number } = {},
): RedisWriter => {
  const states = createChainStates(access)
  const { run } = access

  /** Makes a decision about the atoms of an answer, and makes it again for those that another instance has changed since. */
  const decide = <Result>(answer: LogAnswer, work: (writer: AnswerWriter) => Result): Promise<Result> =>
    run(waitMs, async (send) => {
      const { chain, query } = answer
      const keys = (toAtoms(query) ?? []).map((atom) => toKey(toAtomKeyText(chain, atom)))
      let result: { readonly first: Result } | undefined
      for (let tries = 0; tries < maxTries; tries += 1) {
        const state = await states.load(chain, send)
        const rows = createLoadedRows(chain, state)
        if (state !== undefined) await Promise.all(keys.map((f) => loadAtom(send, rows, { f, range: query, state })))
        const decided = work(createAnswerWriter(rows, { now }))
        result ??= { first: decided }
        const changes = rows.getChanges()
        const areWritten = await Promise.all(
          changes.map(async (change) => {
            const isWritten = await coverAtom(send, change)
            if (isWritten) await queueRanges(send, chain, change)
            return isWritten
          }),
        )
        if (areWritten.every(Boolean)) return result.first
      }
      throw new Error('other instances change an atom all the time')
    })
  const addEntry: RedisWriter['addEntry'] = (answer) =>
    run(waitMs, async (send) => {
      const { chain, text } = answer
      const id = toKey(text)
      const key = toEntryKey(id)
      const [state, bytes] = await Promise.all([states.load(chain, send), send(key, (client) => client.getBuffer(key))])
      const rows = createLoadedRows(chain, state)
      const before = bytes === null ? undefined : readEntry(id, bytes)
      const row = before && state && toEntryRow(before, state)
      if (before !== undefined && row !== undefined) rows.loadEntry(id, row, before)
      const result = createAnswerWriter(rows, { now }).addEntry(answer)
      // Another instance may write at the same time: each has compared two answers, and the later one stays.
      for (const [, entry] of rows.getChangedEntries()) {
        if (entry === undefined) await send(key, (client) => client.del(key))
        else await send(key, (client) => client.set(key, writeEntry(id, entry)))
        if (entry?.call !== undefined) await queueEntry(send, entry, id)
      }
      return result
    })
  return {
    addLogs: (answer) => decide(answer, (writer) => writer.addLogs(answer)),
    confirm: (answer) => decide(answer, (writer) => writer.confirm(answer)),
    addEntry,
    ...createQueues(access, states, now),
    getCheckpoint: states.getCheckpoint,
    setCheckpoint: states.setCheckpoint,
    getCheckpoints: states.getCheckpoints,
    rollBack: states.rollBack,
    purge: states.purge,
    getStats: async (): Promise<ChainFileStats> => ({ ...(await readCacheMemory(access.link)), chains: [] }),
  }
}
