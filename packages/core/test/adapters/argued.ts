/** A case of `adapters.json` in which ours is not as the case wants it, and why that is left so. */
export interface Argued {
  /** The case. */
  readonly name: string
  /** The subjects that it is about. @default all of ours */
  readonly subjects?: readonly string[]
  readonly faces?: readonly ('library' | 'raw')[]
  /** The exact list of reported problems. */
  readonly problems: readonly string[]
  readonly argument: string
}

/** All of them. The list of cases was fixed first, and is not bent to what came out. */
export const argued: readonly Argued[] = [
  {
    name: 'a block number asked twice is asked twice',
    subjects: ['@keyrail/viem'],
    faces: ['library'],
    problems: ['got a wrong value', 'asked blockNumber'],
    argument:
      '`getBlockNumber` of viem remembers the head for `cacheTime`, 4 s by default, above any transport; ' +
      '`createPublicClient({ cacheTime: 0 })` turns that off, and `client.request` never does it.',
  },
]

/** What is argued of a case for one subject and face; undefined where it must simply be right. */
export const arguedFor = (name: string, subject: string, face: 'library' | 'raw'): Argued | undefined =>
  argued.find(
    (one) => one.name === name && (one.subjects?.includes(subject) ?? true) && (one.faces?.includes(face) ?? true),
  )
