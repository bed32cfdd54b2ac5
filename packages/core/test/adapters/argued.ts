/** A case of `adapters.json` in which ours is not as the case wants it, and why that is left so. */
export interface Argued {
  /** The case. */
  readonly name: string
  /** The subjects that it is about. @default all of ours */
  readonly subjects?: readonly string[]
  readonly faces?: readonly ('library' | 'raw')[]
  /** What is told of it, neither more nor less. */
  readonly problems: readonly string[]
  readonly argument: string
}

/** All of them. The list of cases was fixed first, and is not bent to what came out. */
export const argued: readonly Argued[] = [
  {
    name: 'a transaction whose connection breaks is sent once',
    problems: ['sendRawTransaction 3 times'],
    argument:
      'The node never had it. Ours looks the hash up, and sends again only what it has looked for twice, 2 s apart, and not found; the same ' +
      'signed transaction cannot be executed twice. In `compose`, `safeWrite({ keccak256, resends: 0 })` sends once. Where the transaction did arrive, in the other ' +
      'cases of this group, ours sends it once and gives its hash.',
  },
  {
    name: 'a block number asked twice is asked twice',
    subjects: ['@keyrail/viem'],
    faces: ['library'],
    problems: ['got a wrong value', 'asked blockNumber'],
    argument:
      '`getBlockNumber` of viem remembers the head for `cacheTime`, 4 s by default, above whatever transport is given; ' +
      '`createPublicClient({ cacheTime: 0 })` turns that off, and `client.request` never does it.',
  },
]

/** What is argued of a case for one subject and face; undefined where it must simply be right. */
export const arguedFor = (name: string, subject: string, face: 'library' | 'raw'): Argued | undefined =>
  argued.find(
    (one) => one.name === name && (one.subjects?.includes(subject) ?? true) && (one.faces?.includes(face) ?? true),
  )
