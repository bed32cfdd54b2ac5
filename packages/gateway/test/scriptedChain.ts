import type {
  BlockPosition,
  ChainFollower,
  ChainStart,
  ChainStep,
  FollowedBlock,
  FollowedLog,
} from '../src/proxy/subscription/followedChain.ts'

/** The fields of a log that a test sets. */
export type ScriptedLog = Pick<FollowedLog, 'address' | 'topics'>

/** A chain that a test changes, and its follower. */
export interface ScriptedChain {
  readonly follower: ChainFollower
  /** The canonical blocks: the index is the number. */
  readonly blocks: () => readonly FollowedBlock[]
  /** Adds a block. */
  readonly mine: (logs?: readonly ScriptedLog[]) => void
  /** Creates the next block. @returns A function that adds it. */
  readonly prepare: (logs?: readonly ScriptedLog[]) => () => void
  /** Removes the newest blocks. */
  readonly rollBack: (depth: number) => void
  /** How many calls of `locate` wait. */
  readonly waiting: () => number
  /** Ends the oldest wait. @param result - @default where the cursor says */
  readonly respond: (result?: 'unavailable') => void
  /** Whether it follows. */
  readonly isStarted: () => boolean
  /** Whether blocks have logs. */
  readonly hasLogs: () => boolean
}

interface Wait {
  readonly options: Parameters<ChainFollower['locate']>[0]
  readonly done: Parameters<ChainFollower['locate']>[1]
}

/** Options of a scripted chain. */
interface ScriptedChainOptions {
  /** How many blocks a cursor is compared with. @default 128 */
  readonly remembered?: number
  /** Whether `locate` waits for `respond`. @default false */
  readonly isSlow?: boolean
}

/** Creates a chain of one block. */
export const createScriptedChain = ({ remembered = 128, isSlow = false }: ScriptedChainOptions = {}): ScriptedChain => {
  let hashes = 0
  let logs = 0
  let listener: ((step: ChainStep) => void) | undefined
  let areLogsUsed = false
  const waits: Wait[] = []
  const blocks: FollowedBlock[] = []

  const emit = (step: ChainStep): void => listener?.(step)
  const toPosition = ({ number, hash }: BlockPosition): BlockPosition => ({ number, hash })

  const prepare: ScriptedChain['prepare'] = (given = []) => {
    hashes += 1
    const number = blocks.length
    const hash = `0x${hashes.toString(16).padStart(64, '0')}`
    const parentHash = blocks.at(-1)?.hash ?? `0x${'0'.repeat(64)}`
    const block = {
      number,
      hash,
      parentHash,
      header: JSON.stringify({ number: `0x${number.toString(16)}`, hash, parentHash }),
      logs: given.map(({ address, topics }, logIndex): FollowedLog => {
        logs += 1
        const data = `0x${logs.toString(16)}`
        const text = {
          address,
          topics,
          data,
          blockNumber: `0x${number.toString(16)}`,
          blockHash: hash,
          logIndex,
          removed: false,
        }
        return { address, topics, text: JSON.stringify(text) }
      }),
    }
    return () => {
      blocks.push(block)
      const needsLogs = areLogsUsed || waits.some(({ options }) => options.logs)
      emit({ type: 'block', block: needsLogs ? block : { ...block, logs: undefined } })
    }
  }
  prepare()()

  const locate = ({ cursor }: Wait['options']): ChainStart | 'tooOld' => {
    const recent = blocks.slice(-remembered)
    const common =
      cursor === undefined
        ? blocks.at(-1)
        : recent.findLast(({ hash, number }) => number <= cursor.number && cursor.hashes.includes(hash))
    return common === undefined ? 'tooOld' : { position: toPosition(common), blocks: blocks.slice(common.number + 1) }
  }
  const respond: ScriptedChain['respond'] = (result) => {
    const wait = waits.shift()
    if (wait === undefined) return
    if (result === undefined && wait.options.logs) areLogsUsed = true
    wait.done(result ?? locate(wait.options))
  }
  return {
    follower: {
      start: (given) => {
        listener = given
      },
      stop: () => {
        listener = undefined
        areLogsUsed = false
        while (waits.length > 0) respond('unavailable')
      },
      locate: (options, done) => {
        if (listener === undefined) throw new Error('start the follower first')
        waits.push({ options, done })
        if (!isSlow) respond()
      },
      releaseLogs: () => {
        areLogsUsed = false
      },
    },
    blocks: () => blocks,
    mine: (given) => prepare(given)(),
    prepare,
    rollBack: (depth) => {
      const removed = blocks.splice(Math.max(1, blocks.length - depth)).toReversed()
      if (removed.length === 0) return
      emit({ type: 'reorg', ancestor: toPosition(blocks.at(-1) as FollowedBlock), removed })
    },
    waiting: () => waits.length,
    respond,
    isStarted: () => listener !== undefined,
    hasLogs: () => areLogsUsed,
  }
}
