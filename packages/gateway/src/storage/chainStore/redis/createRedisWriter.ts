import { createAnswerWriter, toAtomKeyText } from '../createAnswerWriter.ts'
import type { AnswerWriter, LogAnswer } from '../createAnswerWriter.ts'
import { intersect } from '../blockRanges.ts'
import type { BlockRange } from '../blockRanges.ts'
import type { ChainFileStats } from '../createChainUpkeep.ts'
import type { ChainWriter } from '../createChainWriter.ts'
import { createReadLogs } from '../createLogTable.ts'
import { maxJoinedBytes } from '../createSpanTable.ts'
import { toAtoms } from '../logQuery.ts'
import { createByteBudget } from './createByteBudget.ts'
import { createChainStates } from './createChainStates.ts'
import type { ChainState } from './createChainStates.ts'
import { readCacheMemory } from './checkCacheRedis.ts'
import { createLoadedRows, widen } from './createLoadedRows.ts'
import type { AtomChange, LoadedRows } from './createLoadedRows.ts'
import type { RedisAccess, RedisFunctions, SendCommand } from './createRedisAccess.ts'
import { createQueues, queueEntry, queueRanges, unqueueEntry } from './createQueues.ts'
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
export type RedisWriter = RedisFunctions<Omit<ChainWriter, 'noteRows' | 'evict'>>

/** Nobody waits for a write. */
const waitMs = 2_000
/** How often a decision is made again because another instance has changed an atom. */
const maxTries = 5
/** Most bytes of logs that all decisions hold at a time. */
const maxHeldBytes = 64 * 1024 * 1024

/** What a decision is about. */
interface LoadOptions {
  readonly range: BlockRange
  readonly state: ChainState
  /** Counts bytes that are loaded. @throws {Error} if there is no room for them. */
  readonly hold: (bytes: number) => void
}

/** Reads what Redis has of an atom in a range, and the logs that a decision may need. */
const loadAtom = async (
  send: SendCommand,
  rows: LoadedRows,
  f: Uint8Array,
  { range, state, hold }: LoadOptions,
): Promise<void> => {
  const found: { readonly row: StoredRow; readonly text: string | undefined }[] = []
  for (const { row, text } of await readRows(send, f, widen(range), hold)) {
    const valid = row && toValidRow(row, state)
    if (valid === undefined || valid !== row) rows.loadVoid(f, text)
    if (valid !== undefined) found.push({ row: valid, text: valid === row ? text : undefined })
  }
  const withLogs = found.map(({ row }) => row).filter(({ value, first }) => value !== 0 && first <= range.last + 1)
  // Of those that are large and known, only whether Redis still has them.
  const isNeeded = (row: StoredRow): boolean =>
    row.at === undefined ? row.size <= maxJoinedBytes : intersect(row, range) !== undefined
  const [needed, known] = [withLogs.filter(isNeeded), withLogs.filter((row) => !isNeeded(row))]
  hold(needed.reduce((sum, { size }) => sum + size, 0))
  const ids = needed.map(({ value }) => value)
  const [values, exist] = await Promise.all([
    readValues(send, f, ids),
    Promise.all(known.map(({ value }) => send(toRowsKey(f), (client) => client.exists(toValueKey(f, value))))),
  ])
  const present = new Set([...values.keys(), ...known.filter((_, at) => exist[at] === 1).map(({ value }) => value)])
  const missing = new Set(withLogs.map(({ value }) => value).filter((value) => !present.has(value)))
  for (const [id, value] of values) rows.loadValue(f, id, value)
  // Logs that are damaged are as good as gone.
  const readLogs = createReadLogs({ get: (_, id) => values.get(id) })
  for (const row of needed) if (values.has(row.value) && readLogs({ f, ...row }) === undefined) missing.add(row.value)
  for (const { row, text } of found)
    if (!missing.has(row.value))
      rows.load(row.at === undefined ? toSpanRow(f, row) : toUnconfirmedRow(f, row), { stored: row, text })
    else if (text !== undefined) rows.loadVoid(f, text)
}

/** Writes what a decision has changed of an atom. @returns Whether it was still as it was loaded. */
const coverAtom = async (send: SendCommand, change: AtomChange): Promise<boolean> => {
  const { f, removed, voided, added, addedValues, deletedValues } = change
  const key = toRowsKey(f)
  const keys = [key, ...[...addedValues.keys(), ...deletedValues].map((id) => toValueKey(f, id))]
  const rows = added.flatMap((row) => [row.first, row.last, writeRow(f, row)])
  const counts = [removed.length, voided.length, added.length, addedValues.size]
  return (
    (await send(key, (client) =>
      client.keyrailCover(keys.length, ...keys, ...counts, ...removed, ...voided, ...rows, ...addedValues.values()),
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
  const openHeld = createByteBudget(maxHeldBytes)

  /** Makes a decision about the atoms of an answer. @returns Whether all of them were written: another instance may have changed one since. */
  const decideOnce = async <Result>(
    send: SendCommand,
    { chain, query: range }: LogAnswer,
    work: (writer: AnswerWriter) => Result,
  ): Promise<{ readonly result: Result; readonly isWritten: boolean }> => {
    const keys = (toAtoms(range) ?? []).map((atom) => toKey(toAtomKeyText(chain, atom)))
    const { hold, release } = openHeld()
    try {
      const state = await states.load(chain, send)
      const rows = createLoadedRows(chain, state)
      if (state !== undefined) await Promise.all(keys.map((f) => loadAtom(send, rows, f, { range, state, hold })))
      const result = work(createAnswerWriter(rows, { now }))
      const areWritten = rows.getChanges().map(async (change) => {
        const isWritten = await coverAtom(send, change)
        if (isWritten) await queueRanges(send, chain, change)
        return isWritten
      })
      return { result, isWritten: (await Promise.all(areWritten)).every(Boolean) }
    } finally {
      release()
    }
  }
  const decide = <Result>(answer: LogAnswer, work: (writer: AnswerWriter) => Result): Promise<Result> =>
    run(waitMs, async (send) => {
      const first = await decideOnce(send, answer, work)
      let { isWritten } = first
      for (let tries = 1; !isWritten; tries += 1) {
        if (tries >= maxTries) throw new Error('other instances change an atom all the time')
        isWritten = (await decideOnce(send, answer, work)).isWritten
      }
      return first.result
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
        if (before?.call !== undefined && entry?.call === undefined) await unqueueEntry(send, before, id)
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
