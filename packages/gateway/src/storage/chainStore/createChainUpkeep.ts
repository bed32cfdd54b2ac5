import type { SQLInputValue } from 'node:sqlite'
import type { ChainFile, SpanRow } from './chainFile.ts'
import { spanColumns } from './createSpanTable.ts'
import type { SpanTable } from './createSpanTable.ts'
import { prepareRows } from './prepareRows.ts'

/** A block that a file was written for: if the chain has another one at its number, the file is of another chain. */
export interface Checkpoint {
  /** A part of what rows are stored by. A chain that starts again has a new one, so that no instance finds the rows of the chain before. */
  readonly epoch: string
  readonly genesis: string
  readonly number: number
  readonly hash: string
}

/** What a file has. */
export interface ChainFileStats {
  readonly bytes: number
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
   * Stores a checkpoint of a new chain, of the same epoch, or after the epoch `replaced`; not if another instance has stored another one.
   * @returns What is stored.
   */
  readonly setCheckpoint: (chain: string, checkpoint: Checkpoint, replaced?: string) => Checkpoint | undefined
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
export const createChainUpkeep = (file: ChainFile, spans: SpanTable, maxBytes: number): ChainUpkeep => {
  const prepare = <Row>(sql: string) => prepareRows<Row>(file.database, sql)
  const selectCheckpoint = prepare<Checkpoint>('select epoch, genesis, number, hash from chains where chain = ?')
  const insertCheckpoint = prepare(
    `insert into chains(chain, epoch, genesis, number, hash) values (?1, ?2, ?3, ?4, ?5)
    on conflict(chain) do update set epoch = ?2, genesis = ?3, number = ?4, hash = ?5 where epoch in (?2, ?6)`,
  )
  const selectBytes = prepare<{ bytes: number }>(
    'select (p.page_count - f.freelist_count) * s.page_size as bytes from pragma_page_count p, pragma_freelist_count f, pragma_page_size s',
  )
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
    getCheckpoint: (chain) => selectCheckpoint.get(chain),
    setCheckpoint: (chain, { epoch, genesis, number, hash }, replaced) => {
      insertCheckpoint.run(chain, epoch, genesis, number, hash, replaced ?? null)
      return selectCheckpoint.get(chain)
    },
    purge: (chain, upstream) => {
      const ofNodes =
        "where (?1 is null or chain = ?1 or substr(chain, 1, length(?1) + 1) = ?1 || ' ') and (?2 is null or name = ?2)"
      const where = `where source in (select id from sources ${ofNodes})`
      const values = [chain ?? null, upstream ?? null]
      const deleted = prepare(
        `delete from empties where (f, last) in (select f, last from empties ${where} limit ${rowsAtOnce})`,
      ).run(...values)
      const rows = deleted + purgeTables(where, values)
      if (rows === 0) prepare(`delete from sources ${ofNodes}`).run(...values)
      return rows
    },
    evict: () => {
      const endsAt = performance.now() + evictForMs
      let rows = 0
      while ((selectBytes.get()?.bytes ?? 0) > maxBytes && performance.now() < endsAt) {
        const evicted = purgeTables('order by day', [], evictedAtOnce)
        const deleted = prepare(
          `delete from empties where (f, last) in (select f, last from empties order by at limit ${evictedAtOnce})`,
        ).run()
        if (evicted + deleted === 0) break
        rows += evicted + deleted
      }
      return rows
    },
    getStats: () => ({
      bytes: selectBytes.get()?.bytes ?? 0,
      chains: prepare<ChainFileStats['chains'][number]>(
        `select chain, name as upstream,
          (select count(*) from spans where source = sources.id) as spans,
          (select count(*) from entries where source = sources.id) as entries,
          (select count(*) from empties where source = sources.id) as unconfirmed
        from sources order by chain, name`,
      ).all(),
    }),
  }
}
