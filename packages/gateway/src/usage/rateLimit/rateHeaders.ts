import type { RateDecision } from './rateDecision.ts'

/**
 * Builds the `X-RateLimit-*` headers of a response.
 * @param nowMs - Milliseconds since 1970; `X-RateLimit-Reset` is a Unix time in seconds.
 */
export const rateHeaders = (
  rate: Pick<RateDecision, 'perSecond' | 'remaining' | 'resetMs'>,
  nowMs: number,
): readonly string[] => [
  'X-RateLimit-Limit',
  String(rate.perSecond),
  'X-RateLimit-Remaining',
  String(rate.remaining),
  'X-RateLimit-Reset',
  String(Math.ceil((nowMs + rate.resetMs) / 1000)),
]
