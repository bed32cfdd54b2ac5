import type { SQLInputValue } from 'node:sqlite'
import type { ChainFile, SpanRow } from './chainFile.ts'
import { createCheckpointTable } from './createCheckpointTable.ts'
import type { ChainVersion, Checkpoint } from './createCheckpointTable.ts'
import type { UnconfirmedRow } from './chainRows.ts'
import { spanColumns, unconfirmedColumns } from './createFileRows.ts'
import type { SpanTable } from './createSpanTable.ts'
import type { UnconfirmedTable } from './createUnconfirmedTable.ts'
import { prepareRows } from './prepareRows.ts'

/** What a file has. */
export interface ChainFileStats {
  readonly bytes: number
  /** How many bytes a Redis may have; `undefined` for a file. */
  readonly maxBytes?: number
  readonly chains: readonly {
    readonly chain: string
    readonly upstream: string
    readonly spans: number
    readonly entries: number
    readonly unconfirmed: number
  }[]
}

/** What is done with a whole file, or a whole chain. */
export interface ChainUpkeep {
  readonly getCheckpoint: (chain: string) => Checkpoint | undefined
  /**
   * Adds a checkpoint of a new chain, of the same version, or after the epoch `replaced`; not if another instance has stored another version.
   * @returns The newest that is stored.
   */
  readonly setCheckpoint: (chain: string, checkpoint: Checkpoint, replaced?: string) => Checkpoint | undefined
  /** Gets the checkpoints of a chain, from its first blocks to the newest: fewer of those long ago. */
  readonly getCheckpoints: (chain: string) => readonly Pick<Checkpoint, 'number' | 'hash'>[]
  /** Deletes what is stored above a block, whose later blocks were replaced; nothing if another instance has deleted it. */
  readonly rollBack: (chain: string, version: ChainVersion, number: number) => void
  /** Deletes some of what is stored of a chain, in one or all of its epochs, or of one node of it. @returns How many rows; 0 once there are none. */
  readonly purge: (chain: string | undefined, upstream: string | undefined) => number
  /** Deletes some of what was not used for longest, if there is no room. @returns How many rows; 0 once there is room. */
  readonly evict: () => number
  readonly getStats: () => ChainFileStats
}

const rowsAtOnce = 500
/** Few, so that not more is deleted than has to be: a row can have megabytes. */
const evictedAtOnce = 10
/** As long as one transaction of other instances may wait for this one. */
const evictForMs = 50

/** Creates the upkeep of a file. @param maxBytes - Above this, what was not used for longest is deleted. */
export const createChainUpkeep = (
  file: ChainFile,
  { spans, unconfirmed }: { readonly spans: SpanTable; readonly unconfirmed: UnconfirmedTable },
  maxBytes: number,
): ChainUpkeep => {
  const prepare = <Row>(sql: string) => prepareRows<Row>(file.database, sql)
  const checkpoints = createCheckpointTable(file)
  const selectBytes = prepare<{ bytes: number }>(
    'select (p.page_count - f.freelist_count) * s.page_size as bytes from pragma_page_count p, pragma_freelist_count f, pragma_page_size s',
  )
  const purgeUnconfirmed = (where: string, values: readonly SQLInputValue[], limit = rowsAtOnce): number => {
    const rows = prepare<UnconfirmedRow>(`select ${unconfirmedColumns} from unconfirmed ${where} limit ${limit}`).all(
      ...values,
    )
    for (const row of rows) unconfirmed.cut(row, row)
    return rows.length
  }
  const purgeTables = (where: string, values: readonly SQLInputValue[], limit = rowsAtOnce): number => {
    let rows = 0
    for (const row of prepare<SpanRow>(`select ${spanColumns} from spans ${where} limit ${limit}`).all(...values)) {
      spans.remove(row)
      rows += 1
    }
    rows += prepare(`delete from entries where id in (select id from entries ${where} limit ${limit})`).run(...values)
    return rows
  }

  return {
    getCheckpoint: checkpoints.get,
    setCheckpoint: checkpoints.set,
    getCheckpoints: checkpoints.list,
    rollBack: (chain, { epoch, revision }, number) => {
      if (!checkpoints.rollBack(chain, { epoch, revision }, number)) return
      const values = [`${chain} ${epoch}`, number] as const
      const ofChain = 'source in (select id from sources where chain = ?1)'
      const above = `${ofChain} and last > ?2`
      for (const row of prepare<SpanRow>(`select ${spanColumns} from spans where ${above}`).all(...values))
        spans.rollBack(row, number)
      for (const row of prepare<UnconfirmedRow>(`select ${unconfirmedColumns} from unconfirmed where ${above}`).all(
        ...values,
      ))
        unconfirmed.cut(row, { first: number + 1, last: row.last })
      prepare(`delete from entries where ${ofChain} and block > ?2`).run(...values)
    },
    purge: (chain, upstream) => {
      const ofChain = "(?1 is null or chain = ?1 or substr(chain, 1, length(?1) + 1) = ?1 || ' ')"
      const ofNodes = `where ${ofChain} and (?2 is null or name = ?2)`
      const where = `where source in (select id from sources ${ofNodes})`
      const values = [chain ?? null, upstream ?? null]
      const rows = purgeUnconfirmed(where, values) + purgeTables(where, values)
      if (rows > 0) return rows
      prepare(`delete from sources ${ofNodes}`).run(...values)
      if (upstream === undefined)
        for (const table of ['chains', 'checkpoints'])
          prepare(`delete from ${table} where ${ofChain}`).run(chain ?? null)
      return 0
    },
    evict: () => {
      const endsAt = performance.now() + evictForMs
      let rows = 0
      while ((selectBytes.get()?.bytes ?? 0) > maxBytes && performance.now() < endsAt) {
        const evicted =
          purgeTables('order by day', [], evictedAtOnce) + purgeUnconfirmed('order by at', [], evictedAtOnce)
        if (evicted === 0) break
        rows += evicted
      }
      return rows
    },
    getStats: () => ({
      bytes: selectBytes.get()?.bytes ?? 0,
      chains: prepare<ChainFileStats['chains'][number]>(
        `select chain, name as upstream,
          (select count(*) from spans where source = sources.id) as spans,
          (select count(*) from entries where source = sources.id and unconfirmed = 0) as entries,
          (select count(*) from unconfirmed where source = sources.id) +
          (select count(*) from entries where source = sources.id and unconfirmed <> 0) as unconfirmed
        from sources order by chain, name`,
      ).all(),
    }),
  }
}
