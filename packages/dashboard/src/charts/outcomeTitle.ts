const titles: Readonly<Record<string, string>> = {
  answered: 'Answered',
  nodeError: 'The node answered with an error',
  upstreamFailed: 'No node answered',
  callerGone: 'The caller did not wait',
}

/** What became of a request, in words. A refusal has its reason, as callers are told it. */
export const outcomeTitle = (outcome: string): string => titles[outcome] ?? `Refused: ${outcome.replaceAll('_', ' ')}`
