import type { NetworkStatusView, OverviewView } from '@keyrail/gateway'
import { bytesText, countText, dayText, errorRateText, momentText, rateText } from '../../../parts/times.ts'
import { diskTitles, storeTitles } from './titles.ts'

/** Something that needs the operator's attention. */
export interface OperatorProblem {
  readonly text: string
  readonly isBad?: boolean
  /** The page with more about it. */
  readonly to?: '/operator/upstreams'
}

/** A disk with less than this share free is nearly full. */
const minFree = 0.1
const certificateMs = 14 * 86_400_000
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

/**
 * Lists what needs the operator's attention, the worst first.
 * @param getTitle - Gets the title of a network.
 * @param now - Milliseconds since 1970.
 */
export function listProblems(
  { degraded, instance }: OverviewView,
  networks: readonly NetworkStatusView[],
  { getTitle, now }: { readonly getTitle: (network: string) => string; readonly now: number },
): readonly OperatorProblem[] {
  const { disks, certificateEndsAt, load, lost } = instance
  const recent = getRecentFailures(instance)
  const problems: readonly (OperatorProblem | false)[] = [
    ...degraded.map((name) => ({ text: `${storeTitles[name] ?? name} is unavailable.`, isBad: true })),
    ...networks
      .filter(({ nodes }) => nodes.healthy === 0)
      .map(({ network }) => ({
        text: `${getTitle(network)} has no healthy node.`,
        isBad: true,
        to: '/operator/upstreams' as const,
      })),
    recent.failed > recent.total * maxFailedShare && {
      text: `${errorRateText(recent.failed, recent.total)} of the calls of the last ${recent.minutes} minutes failed or were rejected.`,
    },
    ...ofConfig(instance.config),
    ...disks.map(
      ({ of, freeBytes, totalBytes }) =>
        freeBytes < totalBytes * minFree && {
          text: `The disk of ${diskTitles[of]} has ${rateText(freeBytes / totalBytes)} left: ${bytesText(freeBytes)}.`,
          isBad: true,
        },
    ),
    certificateEndsAt !== null &&
      Date.parse(certificateEndsAt) - now < certificateMs && {
        text: `The certificate ends ${dayText(certificateEndsAt)}.`,
        isBad: true,
      },
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
