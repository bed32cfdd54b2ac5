import { formatTable } from '../../src/formatTable.ts'
import type { Outcome } from './cases.ts'

/** What came of a failure of the first node, for one call and for a batch. */
export interface FailoverRow {
  readonly name: string
  readonly isHeldOut: boolean
  /** Why Keyrail is not right, if that is known. */
  readonly limitation?: string | undefined
  readonly keyrail: { readonly single: Outcome; readonly batch: Outcome }
  readonly erpc: { readonly single: Outcome; readonly batch: Outcome }
}

const isRight = ({ single, batch }: FailoverRow['keyrail']): boolean => single === 'right' && batch === 'right'

/** Finds the failures for which eRPC has the right response and Keyrail does not, in a call or in a batch. */
export const findLosses = (rows: readonly FailoverRow[]): FailoverRow[] =>
  rows.filter(({ keyrail, erpc }) =>
    (['single', 'batch'] as const).some((form) => keyrail[form] !== 'right' && erpc[form] === 'right'),
  )

/**
 * Formats the file of the comparison.
 * @param run - How it was measured: the command, the versions, the day.
 */
export const formatFailover = (rows: readonly FailoverRow[], run: string): string =>
  [
    '# Failover beside eRPC',
    `Two nodes, of which the first fails in one way and the second works. A call, and a batch of three, go through Keyrail and through eRPC. \`right\` is the response of the second node, \`wrong\` another result, and \`error\` an error or no response. Written by \`npm run measure -- peers:erpc\`; how both are configured is in \`test/failover/\`. eRPC sends the calls of a batch one by one, which is its default.`,
    run,
    formatTable(
      ['failures', 'Keyrail, one call', 'Keyrail, batch', 'eRPC, one call', 'eRPC, batch'],
      [
        countRight(
          'in `failover.test.ts` and `verifiedResults.test.ts`',
          rows.filter(({ isHeldOut }) => !isHeldOut),
        ),
        countRight(
          'held out',
          rows.filter(({ isHeldOut }) => isHeldOut),
        ),
      ],
    ),
    '## Where eRPC is right and Keyrail is not',
    formatList(findLosses(rows)),
    '## Where neither is right',
    formatList(rows.filter((row) => !isRight(row.keyrail) && !findLosses([row]).includes(row))),
    '## Failures',
    'The held out ones were chosen after the failover was written, from public reports about nodes and providers. In the first run, on 2026-11-23, Keyrail had the right response to 7 of these 13 and eRPC to 9. Six of them led to changes: a read at a block number goes to a node that has the block, a trace that a node does not have is read from another node, a read of the newest block goes to a node with the highest head that another one supports, and an empty list of logs for a block hash is confirmed by another node.',
    formatTable(
      ['the first node', 'Keyrail, one call', 'Keyrail, batch', 'eRPC, one call', 'eRPC, batch'],
      rows.map(({ name, isHeldOut, keyrail, erpc }) => [
        isHeldOut ? `held out: ${name}` : name,
        keyrail.single,
        keyrail.batch,
        erpc.single,
        erpc.batch,
      ]),
      'left',
    ),
    '',
  ].join('\n\n')

const countRight = (name: string, rows: readonly FailoverRow[]): string[] => {
  const of = (subject: 'keyrail' | 'erpc', form: 'single' | 'batch'): string =>
    `${rows.filter((row) => row[subject][form] === 'right').length} of ${rows.length}`
  return [name, of('keyrail', 'single'), of('keyrail', 'batch'), of('erpc', 'single'), of('erpc', 'batch')]
}

const formatList = (rows: readonly FailoverRow[]): string =>
  rows.length === 0
    ? 'None.'
    : rows.map(({ name, limitation }) => `- **${name}.** ${limitation ?? 'Not explained.'}`).join('\n')
