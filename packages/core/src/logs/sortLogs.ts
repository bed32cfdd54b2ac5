/** A log, with its place in the chain as numbers. */
export interface PlacedLog<L> {
  readonly log: L
  readonly number: number
  /** Its index among the logs of its block. */
  readonly index: number
}

/**
 * Sorts logs in chain order, which some load balancers do not keep, and removes repeated ones.
 *
 * @param placed - The logs. The array is sorted in place.
 * @returns Each log once.
 */
export const sortLogs = <L extends { readonly blockHash: string }>(placed: PlacedLog<L>[]): L[] =>
  placed
    .sort((a, b) => a.number - b.number || a.index - b.index || (a.log.blockHash < b.log.blockHash ? -1 : 1))
    .filter(({ log, index }, at) => index !== placed[at - 1]?.index || log.blockHash !== placed[at - 1]?.log.blockHash)
    .map(({ log }) => log)
