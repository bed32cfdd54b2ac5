import { isDevelopmentChain } from './checkChain.ts'
import { explainFailure } from './explainFailure.ts'
import type { Finding } from './finding.ts'
import type { Probe } from './probe.ts'

/** Chains produce a block every few seconds. A node without a new one for this long is stuck, or has lost its peers. */
const staleMs = 5 * 60_000

const formatAge = (ageMs: number): string => {
  const seconds = Math.max(0, Math.round(ageMs / 1_000))
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

/** The result of checking the latest block. */
export interface HeadCheck {
  readonly finding: Finding
  /** The block's number; undefined if unknown. */
  readonly number: number | undefined
}

/**
 * Checks the age of the latest block.
 *
 * @param probe - The endpoint.
 * @param chainId - Development chains may have old blocks.
 */
export async function checkHead(
  { request, lastResponse }: Pick<Probe, 'request' | 'lastResponse'>,
  chainId: number,
): Promise<HeadCheck> {
  try {
    const block: unknown = await request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
    const { number, timestamp } = Object(block) as { readonly number?: unknown; readonly timestamp?: unknown }
    const height = Number(number)
    const at = Number(timestamp) * 1_000
    if (typeof number !== 'string' || !Number.isSafeInteger(height) || !Number.isSafeInteger(at)) {
      return {
        finding: {
          check: 'head',
          level: 'fail',
          text: 'the latest block is not a valid block',
          fix: 'check that the node has started syncing',
        },
        number: undefined,
      }
    }
    const ageMs = (lastResponse()?.receivedAt ?? Date.now()) - at
    const facts = { block: height, ageMs }
    const text = `block ${height}, ${formatAge(ageMs)} old`
    const isStale = ageMs > staleMs && !isDevelopmentChain(chainId)
    return {
      finding: isStale
        ? {
            check: 'head',
            level: 'warn',
            text,
            fix: 'compare it with a block explorer: a lagging node returns outdated data',
            facts,
          }
        : { check: 'head', level: 'ok', text, facts },
      number: height,
    }
  } catch (error) {
    const { text, fix, kind } = explainFailure(error)
    return {
      finding: { check: 'head', level: 'fail', text, fix, facts: { kind } },
      number: undefined,
    }
  }
}
