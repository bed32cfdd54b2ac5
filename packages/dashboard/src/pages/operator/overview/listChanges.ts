import type { InstanceView, OverviewView } from '@keyrail/gateway'
import { actionText, recordText } from '../../../parts/auditWords.ts'
import { clockText, countText, errorRateText } from '../../../parts/times.ts'
import { findErrorStart } from './findErrorStart.ts'
import { storeTitles } from './titles.ts'

/** Something that changed, or the errors that followed. */
export interface Change {
  readonly key: string
  readonly at: string
  readonly title: string
  readonly detail: string
  /** The id and the name of who changed it; `undefined` if nobody did. */
  readonly by?: readonly [id: string, name: string | null]
  readonly isErrors?: boolean
}

/** How many are shown. */
const maxShown = 12
/** How many of those before the errors are shown in any case. */
const maxBefore = 4

/** `wrongChain` as `wrong chain`. */
const stateText = (state: string): string => state.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const toTitle = (
  { kind, network, name, state }: InstanceView['events'][number],
  getTitle: (network: string) => string,
): string => {
  if (kind === 'config') return state === 'applied' ? 'Applied a changed config' : 'Rejected a changed config'
  if (kind === 'store') return `${storeTitles[name ?? ''] ?? name}: ${state}`
  return `Node ${name} of ${getTitle(network ?? '')}: ${stateText(state)}`
}

/** The events, without the first check of each node that passed: it is part of the start. */
const listEvents = ({ events }: InstanceView): InstanceView['events'] =>
  events.filter(
    ({ kind, network, name, state }, index) =>
      kind !== 'upstream' ||
      state !== 'healthy' ||
      events.slice(index + 1).some((older) => older.network === network && older.name === name),
  )

const findErrors = ({ instance }: OverviewView): readonly Change[] => {
  const errors = findErrorStart(instance.perMinute)
  if (errors === undefined) return []
  const { at, isCutOff, isOver, failed, total } = errors
  return [
    {
      key: 'errors',
      at,
      title: isCutOff ? `Errors, since ${clockText(at)} or longer` : 'Errors began',
      detail: `${errorRateText(failed, total)} of ${countText(total)} calls failed${isOver ? ', and it ended' : ' since'}`,
      isErrors: true,
    },
  ]
}

/**
 * Lists what changed lately, the newest first, with the moment when errors began. Everything below it happened before it.
 * @param getTitle - Gets the title of a network.
 */
export function listChanges(overview: OverviewView, getTitle: (network: string) => string): readonly Change[] {
  const { changes, instance, startedAt } = overview
  const all: readonly Change[] = [
    ...changes.map(({ id, at, action, subject, subjectName, actor, actorName }) => ({
      key: `audit-${id}`,
      at,
      title: actionText(action),
      detail: subject === null ? '' : recordText(subject, subjectName),
      by: [actor, actorName] as const,
    })),
    ...listEvents(instance).map((event) => ({
      key: `${event.at} ${event.kind} ${event.network} ${event.name} ${event.state}`,
      at: event.at,
      title: toTitle(event, getTitle),
      detail: event.reason ?? '',
    })),
    { key: 'start', at: startedAt, title: 'This instance started', detail: `Keyrail ${instance.version}` },
    ...findErrors(overview),
  ]
  // Errors are known by the minute: what changed in the same minute came before.
  const sorted = all.toSorted(
    (one, other) => toMinute(other) - toMinute(one) || Date.parse(other.at) - Date.parse(one.at),
  )
  const errors = sorted.findIndex(({ isErrors }) => isErrors)
  return sorted.slice(0, Math.max(maxShown, errors === -1 ? 0 : errors + 1 + maxBefore))
}

/** The errors of a minute come after its changes. */
const toMinute = ({ at, isErrors = false }: Change): number =>
  Math.floor(Date.parse(at) / 60_000) + (isErrors ? 0.5 : 0)
