const titles: Readonly<Record<string, string>> = {
  succeeded: 'Answered',
  nodeError: 'The node answered with an error',
  upstreamFailed: 'No node answered',
  disconnected: 'The client disconnected',
}

/** Describes the outcome of a request. Unknown outcomes are rejection reasons. */
export const outcomeTitle = (outcome: string): string => titles[outcome] ?? `Rejected: ${outcome.replaceAll('_', ' ')}`
