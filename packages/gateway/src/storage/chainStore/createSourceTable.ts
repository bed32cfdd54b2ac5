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
  /** The revision of the chain when the node was asked: the answer is not stored if it is another one now. @default any */
  readonly revision?: number
}

/** The table of the nodes that sent what is stored. */
export interface SourceTable {
  /** Gets the id of a source; `undefined` if nothing of it is stored. */
  readonly find: (source: AnswerSource) => number | undefined
  /** Gets the id of a source, which is added if it is new. */
  readonly add: (source: AnswerSource) => number
  /** Gets the name of an upstream by its id. */
  readonly getName: (id: number) => string
  /** Whether blocks of a source's chain were replaced after its node was asked. */
  readonly isOutdated: (source: AnswerSource) => boolean
}

/** Opens the table. */
export const createSourceTable = ({ database, toKey }: ChainFile): SourceTable => {
  const prepare = <Row>(sql: string) => prepareRows<Row>(database, sql)
  const selectSource = prepare<{ id: number }>('select id from sources where chain = ? and node = ? and name = ?')
  const selectName = prepare<{ name: string }>('select name from sources where id = ?')
  const insertSource = prepare<{ id: number }>(
    'insert into sources(chain, node, name) values (?, ?, ?) on conflict(chain, node) do update set name = excluded.name returning id',
  )
  const selectVersion = prepare("select 1 from chains where chain || ' ' || epoch = ? and revision = ?")
  const toColumns = ({ chain, upstream, node = upstream }: AnswerSource) => [chain, toKey(node), upstream] as const
  return {
    find: (source) => selectSource.get(...toColumns(source))?.id,
    // Not cached: another process, or a rollback, may have deleted the row.
    add: (source) => {
      const columns = toColumns(source)
      return (selectSource.get(...columns) ?? insertSource.get(...columns))?.id ?? 0
    },
    getName: (id) => selectName.get(id)?.name ?? '',
    isOutdated: ({ chain, revision }) => revision !== undefined && selectVersion.get(chain, revision) === undefined,
  }
}
