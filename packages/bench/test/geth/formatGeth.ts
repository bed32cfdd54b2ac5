import { formatTable } from '../../src/formatTable.ts'
import type { ComparedResponse } from './compareResponses.ts'

/** Why responses to methods differ, by the prefix of their names. */
const explanations: readonly (readonly [prefix: string, explanation: string])[] = [
  ['testing_', 'the service does not offer methods that build blocks for tests of nodes'],
]

/** Formats the file of the comparison. @param run - How it was measured. */
export const formatGeth = (responses: readonly ComparedResponse[], run: string): string => {
  const differing = responses.filter(({ direct, behind }) => direct !== behind)
  return [
    '# The same bytes as geth',
    'The conversations of the execution-apis tests, with the test chain: each request is sent to a geth, and through Keyrail to another geth with the same chain. All requests are sent twice, because the second time some responses come from the cache. Responses are the same if their bytes are. Written by `npm run measure -- peers:geth`; the folder `tests` of execution-apis has the chain and the conversations.',
    run,
    formatTable(
      ['requests', 'sent', 'same bytes'],
      ([1, 2] as const).map((round) => {
        const sent = responses.filter((one) => one.round === round)
        return [
          round === 1 ? 'first time' : 'second time',
          String(sent.length),
          String(sent.filter(({ direct, behind }) => direct === behind).length),
        ]
      }),
    ),
    '## Where they differ',
    differing.length === 0
      ? 'Nowhere.'
      : formatTable(
          ['conversation', 'time', 'through Keyrail', 'why'],
          differing.map(({ name, round, behind }) => [
            name,
            round === 1 ? 'first' : 'second',
            getErrorMessage(behind) ?? 'another result',
            explanations.find(([prefix]) => name.startsWith(prefix))?.[1] ?? 'not explained',
          ]),
          'left',
        ),
    '',
  ].join('\n\n')
}

const getErrorMessage = (response: string): string | undefined =>
  (JSON.parse(response) as { readonly error?: { readonly message: string } }).error?.message
