import type { ChainFile } from './chainFile.ts'
import { prepareRows } from './prepareRows.ts'

/** The node that an answer is from. */
export interface AnswerSource {
  /** The network, its chain id and epoch. */
  readonly chain: string
  /** The name of the upstream. */
  readonly upstream: string
  /** A hash of its URL, which says whether two answers are from one node: after the config has changed, a name can be that of another one. @default upstream */
  readonly node?: string
  /**
   * With `cache.confirm`: the group of the node. Nothing that it sends is served before a node of another group has sent the same. @default only what is
   * empty is confirmed
   */
  readonly group?: string | undefined
  /** The revision of the chain when the node was asked: the answer is not stored if it is another one now. @default any */
  readonly revision?: number
}

/** The node that an answer is from, and what that answer confirms. */
export interface Answerer {
  readonly source: number
  /** Whether the answer confirms one of `at`, in milliseconds since 1970, if both are the same. */
  readonly mayConfirm: (row: { readonly source: number; readonly at: number }) => boolean
}

/** A node may say that a range is empty while it still indexes. After this long, its own second answer confirms it. */
export const confirmAfterMs = 10 * 60_000

/** The table of the nodes that sent what is stored. */
export interface SourceTable {
  /** Gets the id of a source; `undefined` if nothing of it is stored. */
  readonly find: (source: AnswerSource) => number | undefined
  /** Gets a source, which is added if it is new. */
  readonly add: (source: AnswerSource) => Answerer
  /** Gets the name of an upstream by its id. */
  readonly getName: (id: number) => string
  /** Whether blocks of a source's chain were replaced after its node was asked. */
  readonly isOutdated: (source: AnswerSource) => boolean
}

/** Opens the table. @param now - Milliseconds since 1970. */
export const createSourceTable = ({ database, toKey }: ChainFile, now: () => number): SourceTable => {
  const prepare = <Row>(sql: string) => prepareRows<Row>(database, sql)
  const selectSource = prepare<{ id: number }>('select id from sources where chain = ? and node = ? and name = ?')
  const selectSame = prepare<{ id: number }>(
    'select id from sources where chain = ? and node = ? and name = ? and independent = ?',
  )
  const selectName = prepare<{ name: string }>('select name from sources where id = ?')
  const selectOther = prepare('select 1 from sources where id = ? and independent <> ?')
  const insertSource = prepare<{ id: number }>(
    `insert into sources(chain, node, name, independent) values (?, ?, ?, ?)
    on conflict(chain, node) do update set name = excluded.name, independent = excluded.independent returning id`,
  )
  const selectVersion = prepare("select 1 from chains where chain || ' ' || epoch = ? and revision = ?")
  const toColumns = ({ chain, upstream, node = upstream }: AnswerSource) => [chain, toKey(node), upstream] as const
  return {
    find: (source) => selectSource.get(...toColumns(source))?.id,
    add: (answer) => {
      const { group } = answer
      const independent = toKey(group ?? '')
      // Not cached: another process, or a rollback, may have deleted the row.
      const columns = [...toColumns(answer), independent] as const
      const source = (selectSame.get(...columns) ?? insertSource.get(...columns))?.id ?? 0
      return {
        source,
        mayConfirm: (row) =>
          group === undefined
            ? row.source !== source || now() - row.at >= confirmAfterMs
            : selectOther.get(row.source, independent) !== undefined,
      }
    },
    getName: (id) => selectName.get(id)?.name ?? '',
    isOutdated: ({ chain, revision }) => revision !== undefined && selectVersion.get(chain, revision) === undefined,
  }
}
