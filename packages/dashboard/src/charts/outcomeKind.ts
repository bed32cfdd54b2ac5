/**
 * How an outcome is shown. `neutral`: the contract reverted, so nothing failed but the call was no success either.
 * @param outcome - As in the metrics.
 */
export const outcomeKind = (outcome: string): 'good' | 'neutral' | 'bad' =>
  outcome === 'succeeded' ? 'good' : outcome === 'reverted' ? 'neutral' : 'bad'
