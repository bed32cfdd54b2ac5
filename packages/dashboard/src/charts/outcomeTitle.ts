const titles: Readonly<Record<string, string>> = {
  succeeded: 'Answered',
  nodeError: 'The node answered with an error',
  upstreamFailed: 'No node answered',
  callerGone: 'The caller did not wait',
}

/** What became of a request, in words. A rejection has its reason, as callers are told it. */
export const outcomeTitle = (outcome: string): string => titles[outcome] ?? `Rejected: ${outcome.replaceAll('_', ' ')}`
