import { formatTable } from '../../src/formatTable.ts'
import type { SyncCost } from './measuredProxy.ts'

/** What the syncs of an indexer cost: the first one, a second one, one with fewer contracts and one with more. */
export interface MeasuredIndexer {
  readonly name: string
  /** Queries of nodes that confirmed empty ranges. */
  readonly confirmations: number
  readonly keyrail: readonly SyncCost[]
  /** Empty if it was not measured. */
  readonly erpc: readonly SyncCost[]
}

/** The share of calls that needed no node. A call may need several queries. */
const toShare = (calls: number, queries: number): number => Math.max(0, calls - queries) / calls
const toFinalShare = ({ finalCalls, finalQueries }: SyncCost): number => toShare(finalCalls, finalQueries)
const toPercent = (share: number): string => `${(share * 100).toFixed(1)} %`

/** Finds what the syncs through Keyrail cost more than they should. */
export const checkSyncs = (
  { name, confirmations, keyrail }: Pick<MeasuredIndexer, 'name' | 'confirmations' | 'keyrail'>,
  blocks: number,
): string[] => {
  const problems = keyrail.flatMap((sync) => (sync.wrong > 0 ? [`${name}, ${sync.name}: ${sync.wrong} are wrong`] : []))
  const [first, second, subset, more] = keyrail
  if (first === undefined || second === undefined || subset === undefined || more === undefined) return problems
  for (const sync of [first, more])
    if (sync.finalQueries > sync.finalCalls)
      problems.push(
        `${name}, ${sync.name}: ${sync.finalQueries} queries of nodes for ${sync.finalCalls} calls of final blocks`,
      )
  // The node accepts 10,000 blocks, and the error for more names this limit.
  if (confirmations > Math.max(first.queries * 0.15, Math.ceil(blocks / 10_000) + 2))
    problems.push(`${name}: ${confirmations} confirmations are more than 15 % of the first sync's queries`)
  for (const sync of [second, subset])
    if (sync.finalQueries > 0)
      problems.push(`${name}, ${sync.name}: ${sync.finalQueries} queries of nodes are of final blocks`)
  if (more.logs > first.logs / 10)
    problems.push(`${name}, ${more.name}: nodes sent ${more.logs} logs, after ${first.logs} in the first sync`)
  return problems
}

/**
 * Formats the file of the comparison.
 * @param how - How it was measured: the command, the versions, the day.
 */
export const formatSyncs = (indexers: readonly MeasuredIndexer[], how: string): string =>
  [
    '# Syncs of indexers beside eRPC',
    'An indexer syncs a chain through Keyrail with the [chain store](../../docs/service/chain-store.md), and through eRPC with its cache in memory: first 50 contracts, then again with an empty database, then a third of them, and then 55. The two nodes accept 10,000 blocks in a query of logs. Ponder is its own package; Graph Node is a model of how it splits the chain into calls. eRPC caches what is final for ever, including empty results, which Keyrail confirms first. How both are configured is in `test/store/openProxies.ts`. Counted are the calls that end at a final block: later blocks and tags such as `latest` always need a node.',
    how,
    formatTable(
      [
        'sync',
        'calls',
        'without a node: Keyrail',
        'eRPC',
        'queries of nodes: Keyrail',
        'eRPC',
        'logs of nodes: Keyrail',
        'eRPC',
      ],
      indexers.flatMap(({ name, keyrail, erpc }) =>
        keyrail.map((sync, at) => {
          const other = erpc[at]
          return [
            `${name}, ${sync.name}`,
            String(sync.finalCalls),
            toPercent(toFinalShare(sync)),
            other === undefined ? '' : toPercent(toFinalShare(other)),
            String(sync.finalQueries),
            String(other?.finalQueries ?? ''),
            String(sync.logs),
            String(other?.logs ?? ''),
          ]
        }),
      ),
    ),
    'After the first sync, Keyrail confirmed the ranges without logs in the background. The last column counts later blocks too:',
    formatTable(
      [
        'indexer',
        'queries that confirm',
        'of the queries of the first sync',
        'all calls of the second sync without a node',
      ],
      indexers.map(({ name, confirmations, keyrail: [first, second] }) => [
        name,
        String(confirmations),
        first === undefined ? '' : toPercent(confirmations / first.queries),
        second === undefined ? '' : toPercent(toShare(second.calls, second.queries)),
      ]),
    ),
    '',
  ]
    .join('\n\n')
    .trimEnd() + '\n'
