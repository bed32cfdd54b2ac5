/** A case of `adapters.json` that an adapter of Keyrail fails, and why that is accepted. */
export interface AcceptedProblem {
  /** The case. */
  readonly name: string
  /** The adapters that fail it. @default all of Keyrail's */
  readonly subjects?: readonly string[]
  readonly apis?: readonly ('library' | 'raw')[]
  /** The exact list of reported problems. */
  readonly problems: readonly string[]
  readonly argument: string
}

/** All accepted problems. The cases were written first, and none was changed to fit a result. */
export const acceptedProblems: readonly AcceptedProblem[] = [
  {
    name: 'a block number that is read twice is requested twice',
    subjects: ['@keyrail/viem'],
    apis: ['library'],
    problems: ['got a wrong value', 'sent blockNumber'],
    argument:
      '`getBlockNumber` of viem caches the head for `cacheTime`, 4 s by default, above any transport; ' +
      '`createPublicClient({ cacheTime: 0 })` turns that off, and `client.request` never caches.',
  },
]

/** Returns the accepted problem of a case for an adapter and API, or undefined if the adapter must pass the case. */
export const findAcceptedProblem = (
  name: string,
  subject: string,
  api: 'library' | 'raw',
): AcceptedProblem | undefined =>
  acceptedProblems.find(
    (one) => one.name === name && (one.subjects?.includes(subject) ?? true) && (one.apis?.includes(api) ?? true),
  )
