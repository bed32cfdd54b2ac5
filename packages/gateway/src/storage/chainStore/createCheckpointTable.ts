import type { ChainFile } from './chainFile.ts'
import { prepareRows } from './prepareRows.ts'

/**
 * A block that a file was written for: if the chain has another one at its number, the file is of another chain. Nothing above the newest checkpoint is
 * stored, so this comparison is about all that is.
 */
export interface Checkpoint extends ChainVersion {
  readonly genesis: string
  readonly number: number
  readonly hash: string
}

/** What is stored of a chain. */
export interface ChainVersion {
  /** A part of what rows are stored by. A chain that starts again has a new one, so that no instance finds the rows of the chain before. */
  readonly epoch: string
  /** How often its newest blocks were replaced, and what was stored of them deleted. What an instance read before that is not stored. */
  readonly revision: number
}

/** A checkpoint is left out if those next to it are nearer to each other than this part of their distance from the newest. */
const checkpointDistance = 1 / 8

/**
 * Leaves out some of the checkpoints long ago.
 * @param all - In their order.
 * @param newest - The number of the newest.
 */
export const thinCheckpoints = <Place extends Pick<Checkpoint, 'number'>>(
  all: readonly Place[],
  newest: number,
): readonly Place[] =>
  all.filter(({ number }, at) => {
    const [previous, next] = [all[at - 1], all[at + 1]]
    if (at % 2 === 0 || previous === undefined || next === undefined) return true
    return next.number - previous.number >= (newest - number) * checkpointDistance
  })

/** The tables of the chains and their checkpoints. `ChainUpkeep` describes the functions. */
export interface CheckpointTable {
  readonly get: (chain: string) => Checkpoint | undefined
  readonly set: (chain: string, checkpoint: Checkpoint, replaced?: string) => Checkpoint | undefined
  readonly list: (chain: string) => readonly Pick<Checkpoint, 'number' | 'hash'>[]
  /** Deletes the checkpoints above a block, and starts a new revision. @returns Whether the chain had this version. */
  readonly rollBack: (chain: string, version: ChainVersion, number: number) => boolean
}

/** Opens the tables. */
export const createCheckpointTable = ({ database }: ChainFile): CheckpointTable => {
  const prepare = <Row>(sql: string) => prepareRows<Row>(database, sql)
  const selectCheckpoint = prepare<Checkpoint>(
    'select epoch, revision, genesis, number, hash from chains join checkpoints using (chain) where chain = ? order by number desc limit 1',
  )
  const selectCheckpoints = prepare<Checkpoint>('select number, hash from checkpoints where chain = ? order by number')
  const insertChain = prepare('insert or replace into chains(chain, epoch, genesis, revision) values (?, ?, ?, ?)')
  const insertCheckpoint = prepare('insert or replace into checkpoints(chain, number, hash) values (?, ?, ?)')
  const deleteCheckpoints = prepare('delete from checkpoints where chain = ? and number > ?')
  const deleteCheckpoint = prepare('delete from checkpoints where chain = ? and number = ?')
  return {
    get: (chain) => selectCheckpoint.get(chain),
    set: (chain, { epoch, revision, genesis, number, hash }, replaced) => {
      const before = selectCheckpoint.get(chain)
      const isSame = before?.epoch === epoch && before.revision === revision
      if (before !== undefined && !isSame && before.epoch !== replaced) return before
      if (!isSame) {
        deleteCheckpoints.run(chain, -1)
        insertChain.run(chain, epoch, genesis, revision)
      }
      insertCheckpoint.run(chain, number, hash)
      const all = selectCheckpoints.all(chain)
      const left = new Set(thinCheckpoints(all, number))
      for (const one of all) if (!left.has(one)) deleteCheckpoint.run(chain, one.number)
      return selectCheckpoint.get(chain)
    },
    list: (chain) => selectCheckpoints.all(chain),
    rollBack: (chain, { epoch, revision }, number) => {
      const before = selectCheckpoint.get(chain)
      if (before?.epoch !== epoch || before.revision !== revision) return false
      insertChain.run(chain, epoch, before.genesis, revision + 1)
      deleteCheckpoints.run(chain, number)
      return true
    },
  }
}
