import { inspect } from 'node:util'

/**
 * Collects every string that can be reached from a value: own and inherited properties (hidden ones and symbols too), the values of getters,
 * causes, entries of maps and sets, stacks, and how the value prints and serialises.
 */
export function reachableStrings(root: unknown): string[] {
  const strings: string[] = []
  const visited = new Set<unknown>()
  const queue: unknown[] = [root]
  const tryEach = (...reads: (() => unknown)[]): void => {
    for (const read of reads) {
      try {
        queue.push(read())
      } catch {
        // A read that throws shows no string.
      }
    }
  }
  tryEach(
    () =>
      inspect(root, {
        showHidden: true,
        depth: 20,
        showProxy: true,
        getters: true,
        maxArrayLength: null,
        maxStringLength: null,
      }),
    () => inspect(root),
    () => JSON.stringify(root),
    () => String(root),
    () => `${root as string}`,
  )
  while (queue.length > 0) {
    const value = queue.pop()
    if (typeof value === 'string') strings.push(value)
    if (typeof value === 'symbol') strings.push(String(value))
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || visited.has(value)) continue
    visited.add(value)
    if (value instanceof Map || value instanceof Set) queue.push(...[...value].flat())
    for (let owner: object | null = value; owner; owner = Object.getPrototypeOf(owner) as object | null) {
      for (const key of Reflect.ownKeys(owner)) {
        queue.push(key)
        try {
          queue.push(Reflect.get(owner, key, value))
        } catch {
          // A getter that throws shows no string.
        }
      }
    }
  }
  return strings
}

/** The strings reachable from a value that contain 8 consecutive characters of a secret, as they are or percent-encoded. */
export function findLeaks(root: unknown, ...secrets: readonly string[]): string[] {
  const runs = secrets.flatMap((secret) =>
    Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8)),
  )
  const holdsOne = (text: string): boolean => runs.some((run) => text.includes(run))
  const decoded = (text: string): string =>
    text.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  // Without duplicates: most strings are property names that occur many times.
  const texts = [...new Set(reachableStrings(root))].filter((text) => text.length >= 8)
  return texts.filter((text) => holdsOne(text) || (text.includes('%') && holdsOne(decoded(text))))
}
