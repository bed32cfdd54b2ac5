import type { ChainLog } from './chainLogs.ts'

/** Any address. */
export const anyAddress = '*'

/** The topics of a filter: for each position, one of these in lower case, or any. */
export type Topics = readonly (readonly string[] | null)[]

/** What `eth_getLogs` searches, in canonical form. */
export interface LogFilter {
  /** In lower case, sorted, each once; `[anyAddress]` if any will do. */
  readonly addresses: readonly string[]
  /** The values of each position are sorted, each once. */
  readonly topics: Topics
}

/** A query of logs. */
export interface LogQuery extends LogFilter {
  readonly first: number
  readonly last: number
}

/**
 * The smallest part of a filter whose logs are stored together: one address, or any, and at most one value of the first topic. Other filters with the
 * same parts find them, and each log of a result belongs to one part.
 */
export interface Atom {
  readonly address: string
  readonly topics: Topics
}

/** More parts than this cost more than a query. */
export const maxAtoms = 4_000

/** Splits a filter into its atoms; `undefined` if it has too many. */
export const toAtoms = ({ addresses, topics }: LogFilter): readonly Atom[] | undefined => {
  const [first, ...rest] = topics
  const count = addresses.length * (first?.length ?? 1)
  if (count > maxAtoms) return undefined
  if (first === undefined || first === null) return addresses.map((address) => ({ address, topics }))
  return addresses.flatMap((address) => first.map((topic) => ({ address, topics: [[topic], ...rest] })))
}

/** Writes an atom as the text that it is stored by. */
export const toAtomText = ({ address, topics }: Atom): string => `${address} ${JSON.stringify(topics)}`

/**
 * Gets the atoms whose logs include those of this one: itself, the address with the same first topic, and the address with any. `null` at the end of the
 * topics says how many a log must have, which nodes read differently: such an atom has only itself.
 */
export const getSources = (atom: Atom): readonly Atom[] => {
  const { address, topics } = atom
  if (topics.length === 0 || topics.at(-1) === null) return [atom]
  const sources: Atom[] = [atom]
  if (topics.length > 1 && topics[0] !== null) sources.push({ address, topics: topics.slice(0, 1) })
  sources.push({ address, topics: [] })
  return sources
}

/** Whether a log belongs to an atom. How many topics `null` at the end demands is left to the node. */
export const matchesAtom = ({ address, topics }: Atom, log: ChainLog): boolean =>
  (address === anyAddress || address === log.address) &&
  topics.every((allowed, at) => {
    const topic = log.topics[at]
    return allowed === null || (topic !== undefined && allowed.includes(topic))
  })

/**
 * Creates a function that finds the atom of a filter which a log belongs to; `undefined` if the filter does not match it.
 * @param atoms - All of the same filter.
 */
export const createAtomFinder = (atoms: readonly Atom[]): ((log: ChainLog) => Atom | undefined) => {
  const [one] = atoms
  const isAny = one?.address === anyAddress
  const hasTopic = (one?.topics[0] ?? null) !== null
  const toStart = (address: string, topic: string | undefined): string => (hasTopic ? `${address} ${topic}` : address)
  const byStart = new Map(atoms.map((atom) => [toStart(atom.address, atom.topics[0]?.[0]), atom]))
  return (log) => {
    const atom = byStart.get(toStart(isAny ? anyAddress : log.address, log.topics[0]))
    return atom !== undefined && matchesAtom(atom, log) ? atom : undefined
  }
}
