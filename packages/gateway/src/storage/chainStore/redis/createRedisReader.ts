import type { SpanRow } from '../chainFile.ts'
import { createChainReader, joinResults } from '../createChainReader.ts'
import type { ChainReader, FoundSpan, StoredLogs } from '../createChainReader.ts'
import { createReadLogs } from '../createLogTable.ts'
import type { LogQuery } from '../logQuery.ts'
import { createByteBudget } from './createByteBudget.ts'
import { createChainStates } from './createChainStates.ts'
import type { ChainState } from './createChainStates.ts'
import type { RedisAccess, RedisFunctions, SendCommand } from './createRedisAccess.ts'
import { readRows, readValues } from './readRows.ts'
import { readEntry, toEntryKey, toEntryRow, toKey, toSpanRow, toValidRow } from './redisRow.ts'

/** The functions of the thread that reads Redis: what is late, or cannot be read, is not found. */
export type RedisReader = RedisFunctions<Omit<ChainReader, 'takeRows'>>

/** How long a look-up may take: a node responds within about this time. */
const defaultPatienceMs = 20
/** Most atoms of one look-up. */
const maxKeys = 1_000
/** A look-up of more atoms would keep others waiting, so that there is one at a time. */
const maxNarrowKeys = 50
/** Most bytes that all look-ups hold at a time. */
const maxHeldBytes = 64 * 1024 * 1024

/** What a look-up has loaded, and what it needs to go on. */
interface LookUp {
  readonly send: SendCommand
  readonly query: LogQuery
  readonly state: Promise<ChainState | undefined>
  /** By the key of an atom. */
  readonly spans: Map<string, { readonly rows: readonly SpanRow[]; readonly sizes: ReadonlyMap<number, number> }>
  readonly values: Map<number, Buffer | undefined>
  wantedKeys: readonly Buffer[]
  wantedValues: SpanRow[]
  /** Counts bytes that are loaded. @throws {Error} if all look-ups have too many. */
  readonly hold: (bytes: number) => void
  /** How many of them are logs. */
  valueBytes: number
}

/** Ends a read that needs more rows. */
const notLoaded = new Error('not loaded')
const toName = (f: Uint8Array): string => Buffer.from(f).toString('hex')

/** Reads what is loaded. Notes what else is needed. */
const readLoaded = (lookUp: LookUp, chain: string, maxBytes: number): StoredLogs | undefined => {
  const { query, spans, values } = lookUp
  lookUp.wantedKeys = []
  lookUp.wantedValues = []
  const getStored = createReadLogs({ get: (_, id) => values.get(id) })
  const reader = createChainReader({
    toKey,
    selectSpans: (keys, range) => {
      lookUp.wantedKeys = keys.filter((key) => !spans.has(toName(key)))
      if (lookUp.wantedKeys.length > 0) throw notLoaded
      return keys.flatMap((key, at) =>
        (spans.get(toName(key))?.rows ?? [])
          .filter((row) => row.first <= range.last)
          .map((row): FoundSpan => ({ ...row, at })),
      )
    },
    getLogs: (row) => {
      if (row.value === 0 || values.has(row.value)) return getStored(row)
      // As if it had no logs: Redis has most values, and then no other atoms are needed.
      lookUp.wantedValues.push(row)
      return []
    },
    getEntry: () => undefined,
  })
  try {
    return reader.readLogs(chain, query, maxBytes)
  } catch (error) {
    if (error !== notLoaded) throw error
    return undefined
  }
}

const loadSpans = async ({ send, query, state, spans, wantedKeys, hold }: LookUp): Promise<boolean> => {
  if (spans.size + wantedKeys.length > maxKeys) return false
  const read = await Promise.all(wantedKeys.map((f) => readRows(send, f, query, hold)))
  const version = await state
  if (version === undefined) return false
  for (const [at, f] of wantedKeys.entries()) {
    const valid = (read[at] ?? []).flatMap(({ row }) =>
      row === undefined || row.at !== undefined ? [] : (toValidRow(row, version) ?? []),
    )
    const sizes = new Map(valid.map(({ value, size }) => [value, size]))
    spans.set(toName(f), { rows: valid.map((row) => toSpanRow(f, row)), sizes })
  }
  return true
}

/** @returns Whether they are not more than was asked for. */
const loadValues = async (lookUp: LookUp, maxBytes: number): Promise<boolean> => {
  const { send, spans, values, wantedValues } = lookUp
  const byAtom = new Map<string, { readonly f: Uint8Array; readonly ids: number[] }>()
  let bytes = 0
  for (const { f, value } of wantedValues) {
    const name = toName(f)
    const atom = byAtom.get(name) ?? { f, ids: [] }
    byAtom.set(name, atom)
    atom.ids.push(value)
    bytes += spans.get(name)?.sizes.get(value) ?? 0
  }
  if (lookUp.valueBytes + bytes > Math.max(maxBytes, 1024 * 1024)) return false
  lookUp.valueBytes += bytes
  lookUp.hold(bytes)
  const loads = [...byAtom.values()].map(async ({ f, ids }) => {
    const found = await readValues(send, f, ids)
    for (const id of ids) values.set(id, found.get(id))
  })
  await Promise.all(loads)
  return true
}

/**
 * Creates the functions that read Redis.
 * @param options.patienceMs - How long a look-up may take. @default 20
 */
export const createRedisReader = (
  access: Pick<RedisAccess, 'run'>,
  { patienceMs = defaultPatienceMs }: { readonly patienceMs?: number | undefined } = {},
): RedisReader => {
  const states = createChainStates(access)
  const openHeld = createByteBudget(maxHeldBytes)
  let wide: LookUp | undefined

  const readLogs = async (lookUp: LookUp, chain: string, maxBytes: number): Promise<StoredLogs | undefined> => {
    for (;;) {
      const found = readLoaded(lookUp, chain, maxBytes)
      if (lookUp.wantedKeys.length > 0) {
        if (lookUp.spans.size + lookUp.wantedKeys.length > maxNarrowKeys) {
          wide ??= lookUp
          if (wide !== lookUp) return undefined
        }
        if (!(await loadSpans(lookUp))) return undefined
      } else if (lookUp.wantedValues.length > 0) {
        if (!(await loadValues(lookUp, maxBytes))) return undefined
      } else return found
    }
  }

  return {
    readLogs: async (chain, query, maxBytes) => {
      try {
        return await access.run(patienceMs, async (send) => {
          const state = states.load(chain, send)
          state.catch(() => {})
          const own = { send, query, state, spans: new Map(), values: new Map() }
          const { hold, release } = openHeld()
          const lookUp: LookUp = { ...own, hold, wantedKeys: [], wantedValues: [], valueBytes: 0 }
          try {
            const found = await readLogs(lookUp, chain, maxBytes)
            if (found === undefined) return undefined
            // Rows that were read later can be of another version than those before.
            const [before, after] = [await state, await states.load(chain, send)]
            return before?.revision === after?.revision && before?.purges === after?.purges ? found : undefined
          } finally {
            // Also of one that is late, once its commands have ended.
            release()
            if (wide === lookUp) wide = undefined
          }
        })
      } catch {
        return undefined
      }
    },
    readEntry: async (text) => {
      const id = toKey(text)
      const key = toEntryKey(id)
      try {
        return await access.run(patienceMs, async (send) => {
          const bytes = await send(key, (client) => client.getBuffer(key))
          const entry = bytes === null ? undefined : readEntry(id, bytes)
          // After the entry: what was replaced before this is not served.
          const state = entry && (await states.load(entry.chain, send))
          const row = entry && state && toEntryRow(entry, state)
          return createChainReader({
            toKey,
            selectSpans: () => [],
            getLogs: () => undefined,
            getEntry: () => row,
          }).readEntry(text)
        })
      } catch {
        return undefined
      }
    },
    joinResults: async (...args) => joinResults(...args),
  }
}
