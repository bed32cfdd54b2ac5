import { findNearestName } from '@keyrail/core/internal'

/** Callers choose what is looked up, also without a key, so the CPU time of all look-ups is bounded. */
const maxPerSecond = 100
const maxLength = 64
const maxDifference = 3

let second = 0
let count = 0

const takeOne = (): boolean => {
  const now = Math.floor(performance.now() / 1_000)
  if (now !== second) {
    second = now
    count = 0
  }
  count += 1
  return count <= maxPerSecond
}

/** The first letter after a namespace such as `eth_`: it is rarely wrong, and most methods share the namespace. */
const getInitial = (name: string): string | undefined => name.slice(name.indexOf('_') + 1)[0]?.toLowerCase()

/**
 * Finds the name that a caller probably meant, for an error response.
 * @param name - What the caller sent.
 * @param known - The names that exist: at most a few hundred.
 * @returns `undefined` if none is similar, and past 100 look-ups in a second.
 */
export const suggestName = (name: string, known: readonly string[]): string | undefined => {
  if (name.length > maxLength || !takeOne()) return undefined
  const nearest = findNearestName(
    name,
    known.filter((one) => Math.abs(one.length - name.length) <= maxDifference && getInitial(one) === getInitial(name)),
  )
  return nearest === name ? undefined : nearest
}
