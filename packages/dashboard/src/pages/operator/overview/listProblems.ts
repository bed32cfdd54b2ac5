import type { OverviewView, ProblemView } from '@keyrail/gateway'
import { bytesText, countText, dayText, errorRateText, momentText, rateText } from '../../../parts/times.ts'
import { diskTitles, storeTitles } from './titles.ts'

/** Something that needs the operator's attention. */
export interface OperatorProblem {
  readonly text: string
  readonly isBad?: boolean
  /** The page with more about it. */
  readonly to?: '/operator/upstreams'
}

const lateMs = 60_000
const rollUpLateMs = 15 * 60_000
/** The share of failed calls is that of this many minutes. */
const nowMinutes = 5
const maxFailedShare = 0.05

/** How many calls of the last minutes failed. */
export const getRecentFailures = ({ perMinute: { totals, failures } }: OverviewView['instance']) => {
  const addUp = (counts: readonly number[]): number => counts.slice(-nowMinutes).reduce((sum, count) => sum + count, 0)
  return { minutes: nowMinutes, total: addUp(totals), failed: addUp(failures) }
}

const ofConfig = ({
  rejectedAt,
  faults,
  needsRestart,
}: OverviewView['instance']['config']): readonly OperatorProblem[] => [
  ...(rejectedAt === null
    ? []
    : [
        {
          text: `The changed config was rejected ${momentText(rejectedAt)}, so the one before is in use. The log has the ${faults === 1 ? 'fault' : `${countText(faults)} faults`}.`,
          isBad: true,
        },
      ]),
  ...(needsRestart.length === 0 ? [] : [{ text: `Changed options that need a restart: ${needsRestart.join(', ')}.` }]),
]

/** Describes a problem that the service finds, and alerts operators about. */
function describe(
  { kind, subject, share, expiresAt }: ProblemView,
  { instance }: OverviewView,
  getTitle: (network: string) => string,
): OperatorProblem {
  switch (kind) {
    case 'store':
      return { text: `${storeTitles[subject] ?? subject} is unavailable.`, isBad: true }
    case 'network':
      return { text: `${getTitle(subject)} has no healthy node.`, isBad: true, to: '/operator/upstreams' }
    case 'disk': {
      const disk = instance.disks.find(({ of }) => of === subject)
      const left = disk === undefined ? '' : `: ${bytesText(disk.freeBytes)}`
      return {
        text: `The disk of ${diskTitles[subject] ?? subject} has ${rateText(share ?? 0)} left${left}.`,
        isBad: true,
      }
    }
    case 'certificate':
      return { text: `The certificate ends ${expiresAt === null ? 'soon' : dayText(expiresAt)}.`, isBad: true }
    case 'errors':
      return {
        text: `${rateText(share ?? 0)} of the calls of the last ${nowMinutes} minutes failed because of nodes.`,
        isBad: true,
        to: '/operator/upstreams',
      }
  }
}

/**
 * Lists what needs the operator's attention, the worst first.
 * @param getTitle - Gets the title of a network.
 */
export function listProblems(
  overview: OverviewView,
  getTitle: (network: string) => string,
): readonly OperatorProblem[] {
  const { problems: found, instance } = overview
  const { load, lost } = instance
  const recent = getRecentFailures(instance)
  const problems: readonly (OperatorProblem | false)[] = [
    ...found.map((problem) => describe(problem, overview, getTitle)),
    recent.failed > recent.total * maxFailedShare &&
      found.every(({ kind }) => kind !== 'errors') && {
        text: `${errorRateText(recent.failed, recent.total)} of the calls of the last ${recent.minutes} minutes failed or were rejected.`,
      },
    ...ofConfig(instance.config),
    load.unwrittenMs > lateMs && {
      text: `Counts of calls are written late: ${countText(load.unwrittenRows)} rows wait for the database.`,
    },
    load.rollUpLagMs > rollUpLateMs && { text: 'Usage is rolled up late.' },
    lost.calls > 0 && {
      text: `The counts of ${countText(lost.calls)} calls were lost while the database was unavailable.`,
    },
    lost.logLines > 0 && { text: `${countText(lost.logLines)} log lines were dropped, because their reader is slow.` },
  ]
  return problems
    .filter((problem) => problem !== false)
    .toSorted((one, other) => Number(other.isBad ?? false) - Number(one.isBad ?? false))
}
