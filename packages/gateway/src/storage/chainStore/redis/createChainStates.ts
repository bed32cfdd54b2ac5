import { thinCheckpoints } from '../createCheckpointTable.ts'
import type { ChainVersion, Checkpoint } from '../createCheckpointTable.ts'
import type { RedisAccess, SendCommand } from './createRedisAccess.ts'

/** A chain: its version, and what is no longer valid of the rows that were stored before. */
export interface ChainState extends ChainVersion {
  readonly genesis: string
  /** Each revision with the block above which it has replaced those before. */
  readonly replaced: readonly (readonly [revision: number, number: number])[]
  /** How often nodes were purged. */
  readonly purges: number
  /** The last purge of each node, by its name. */
  readonly purged: Readonly<Record<string, number>>
}

/** When something was stored, and by which node it was sent. */
export interface RowStamp {
  readonly revision: number
  readonly purges: number
  readonly name: string
}

/** The version in which something is stored now. */
export const toStamp = ({ revision, purges }: ChainState): Pick<RowStamp, 'revision' | 'purges'> => ({
  revision,
  purges,
})

/** Gets the last block up to which something that was stored is still valid; -1 if nothing of it is. */
export const getValidTo = ({ replaced, purged }: ChainState, { revision, purges, name }: RowStamp): number => {
  if ((purged[name] ?? 0) > purges) return -1
  let last = Infinity
  for (const [later, number] of replaced) if (later > revision) last = Math.min(last, number)
  return last
}

/** The chains of a store, in one hash that each look-up reads: Redis never finds it to be what was not used for longest. */
export interface ChainStates {
  /** Reads the state of a chain with its epoch. @returns `undefined` if it has another epoch now: then nothing of it is valid. */
  readonly load: (chain: string, send: SendCommand) => Promise<ChainState | undefined>
  readonly getCheckpoint: (name: string) => Promise<Checkpoint | undefined>
  readonly setCheckpoint: (name: string, checkpoint: Checkpoint, replaced?: string) => Promise<Checkpoint | undefined>
  readonly getCheckpoints: (name: string) => Promise<readonly StoredCheckpoint[]>
  readonly rollBack: (name: string, version: ChainVersion, number: number) => Promise<void>
  readonly purge: (chain: string | undefined, upstream: string | undefined) => Promise<number>
}

type StoredCheckpoint = Pick<Checkpoint, 'number' | 'hash'>

/** A chain, and its checkpoints in their order. */
interface StoredChain {
  readonly state: ChainState
  readonly checkpoints: readonly StoredCheckpoint[]
}

const chainsKey = 'kr:cache:chains'
const waitMs = 1_000
const maxTries = 5
/** Most epochs that are known to have ended, of each chain. */
const maxEnded = 100
const checkpointsOf = (name: string): string => `${name}\n`

const toCheckpoint = ({ state, checkpoints }: StoredChain): Checkpoint | undefined => {
  const newest = checkpoints.at(-1)
  const { epoch, revision, genesis } = state
  return newest && { epoch, revision, genesis, ...newest }
}

const parse = (state: string, checkpoints: string): StoredChain | undefined =>
  state === ''
    ? undefined
    : { state: JSON.parse(state) as ChainState, checkpoints: JSON.parse(checkpoints) as readonly StoredCheckpoint[] }

/** Creates what this thread has seen of the versions of chains, which Redis may lose. */
const createSeenStates = () => {
  /** The newest version of each chain that was seen: a Redis that comes back with an older one has lost what was deleted since. */
  const seen = new Map<string, ChainState>()
  /** The last epochs of each chain that have ended, also because Redis has lost them: rows of them may still be there, so that they never come back. */
  const ended = new Map<string, string[]>()
  const end = (name: string, epoch: string): void => {
    const known = ended.get(name) ?? []
    if (!known.includes(epoch)) ended.set(name, [...known, epoch].slice(-maxEnded))
  }
  /** Notes what Redis has of a chain now. @returns It, unless it is older than what was seen. */
  const note = (name: string, state: ChainState | undefined): ChainState | undefined => {
    if (state !== undefined && isOlder(name, state)) return undefined
    const before = seen.get(name)
    if (before !== undefined && before.epoch !== state?.epoch) end(name, before.epoch)
    if (state === undefined) seen.delete(name)
    else seen.set(name, state)
    return state
  }
  const isOlder = (name: string, { epoch, revision, purges }: ChainState): boolean => {
    const before = seen.get(name)
    if (before?.epoch === epoch) return before.revision > revision || before.purges > purges
    return hasEnded(name, epoch)
  }
  const hasEnded = (name: string, epoch: string): boolean => ended.get(name)?.includes(epoch) === true
  return { note, end, hasEnded }
}

/** Opens the chains. */
export const createChainStates = ({ run }: Pick<RedisAccess, 'run'>): ChainStates => {
  const { note, end, hasEnded } = createSeenStates()

  /** Reads a chain, changes it, and writes it if nobody else has. @param change - Returns `undefined` for no change, and `delete`. */
  const update = async (
    name: string,
    change: (found: StoredChain | undefined) => StoredChain | 'delete' | undefined,
  ): Promise<StoredChain | undefined> =>
    run(waitMs, async (send) => {
      for (let tries = 0; tries < maxTries; tries += 1) {
        const fields = [name, checkpointsOf(name)] as const
        const [state, checkpoints] = (await send(chainsKey, (client) => client.hmget(chainsKey, ...fields))).map(
          (value) => value ?? '',
        ) as [string, string]
        const stored = parse(state, checkpoints)
        const found = note(name, stored?.state) && stored
        const next = change(found) ?? (found === stored ? undefined : 'delete')
        if (next === undefined) return found
        const texts = next === 'delete' ? ['', ''] : [JSON.stringify(next.state), JSON.stringify(next.checkpoints)]
        const isWritten = await send(chainsKey, (client) =>
          client.keyrailSwap(chainsKey, ...fields, state, checkpoints, ...texts),
        )
        if (isWritten !== 1) continue
        if (next === 'delete') {
          if (stored !== undefined) end(name, stored.state.epoch)
          note(name, undefined)
          return undefined
        }
        note(name, next.state)
        return next
      }
      throw new Error('the chain store changes all the time')
    })

  return {
    load: async (chain, send) => {
      const at = chain.lastIndexOf(' ')
      const [name, epoch] = [chain.slice(0, at), chain.slice(at + 1)]
      const text = await send(chainsKey, (client) => client.hget(chainsKey, name))
      const state = note(name, text === null ? undefined : (JSON.parse(text) as ChainState))
      return state?.epoch === epoch ? state : undefined
    },
    getCheckpoint: async (name) => {
      const found = await update(name, () => undefined)
      return found && toCheckpoint(found)
    },
    setCheckpoint: async (name, { epoch, revision, genesis, number, hash }, replaced) => {
      const stored = await update(name, (found) => {
        const before = found && toCheckpoint(found)
        const isSame = before?.epoch === epoch && before.revision === revision
        if (before !== undefined && !isSame && before.epoch !== replaced) return undefined
        // What was rolled back or purged in it is not known any more.
        if (before === undefined && hasEnded(name, epoch)) return undefined
        const { state, checkpoints } =
          found !== undefined && isSame
            ? found
            : { state: { epoch, revision, genesis, replaced: [], purges: 0, purged: {} }, checkpoints: [] }
        const others = checkpoints.filter((one) => one.number !== number)
        const all = [...others, { number, hash }].toSorted((one, other) => one.number - other.number)
        return { state, checkpoints: thinCheckpoints(all, number) }
      })
      return stored && toCheckpoint(stored)
    },
    getCheckpoints: async (name) => (await update(name, () => undefined))?.checkpoints ?? [],
    rollBack: async (name, { epoch, revision }, number) => {
      await update(name, (found) => {
        if (found?.state.epoch !== epoch || found.state.revision !== revision) return undefined
        const next = revision + 1
        // Those above it say nothing more.
        const before = found.state.replaced.filter(([, own]) => own < number)
        return {
          state: { ...found.state, revision: next, replaced: [...before, [next, number]] },
          checkpoints: found.checkpoints.filter((one) => one.number <= number),
        }
      })
    },
    purge: async (chain, upstream) => {
      const names = await run(waitMs, (send) => send(chainsKey, (client) => client.hkeys(chainsKey)))
      for (const name of names.filter((one) => !one.endsWith('\n')))
        await update(name, (found) => {
          const own = found && `${name} ${found.state.epoch} `
          if (found === undefined || own?.startsWith(chain === undefined ? '' : `${chain} `) !== true) return undefined
          if (upstream === undefined) return 'delete'
          const purges = found.state.purges + 1
          const purged = { ...found.state.purged, [upstream]: purges }
          return { ...found, state: { ...found.state, purges, purged } }
        })
      return 0
    },
  }
}
