const titles: Readonly<Record<string, string>> = {
  succeeded: 'Succeeded',
  reverted: 'Reverted',
  nodeError: 'Node error',
  upstreamFailed: 'No node responded',
  disconnected: 'The client disconnected',
}

/** Describes the outcome of a request. Unknown outcomes are rejection reasons. */
export const outcomeTitle = (outcome: string): string => titles[outcome] ?? `Rejected: ${outcome.replaceAll('_', ' ')}`
