import type { RequestEntryView } from '@keyrail/gateway'
import { countText } from '../parts/times.ts'

/** Names a request: its method, and how many others its batch has. */
export const methodText = ({ method, calls }: Pick<RequestEntryView, 'method' | 'calls'>): string => {
  const name = method ?? 'No method'
  return calls > 1 ? `${name} and ${countText(calls - 1)} more` : name
}
