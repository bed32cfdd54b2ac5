import type { RequestEntryView } from '@keyrail/gateway'
import { outcomeTitle } from '../charts/outcomeTitle.ts'

const withMessage: ReadonlySet<string> = new Set(['reverted', 'nodeError'])

/** Describes the outcome of a request in one line: with what the contract or the node said, which the title does not say. */
export const outcomeText = ({ outcome, message }: Pick<RequestEntryView, 'outcome' | 'message'>): string => {
  const title = outcomeTitle(outcome)
  const said = withMessage.has(outcome) ? message?.replace(/^execution reverted(?:: |$)/i, '') : undefined
  return said === undefined || said === '' ? title : `${title}: ${said}`
}
