import { isDevelopmentChain } from './checkChain.ts'
import { describeFailure } from './describeFailure.ts'
import type { Finding } from './finding.ts'
import type { Probe } from './probe.ts'

/** Chains make a block every few seconds; a node that has none for so long hangs, or has lost its peers. */
const staleMs = 5 * 60_000

const ageWords = (ageMs: number): string => {
  const seconds = Math.max(0, Math.round(ageMs / 1_000))
  if (seconds < 120) return `${seconds} s`
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`
}

/** What was found of the newest block. */
export interface Head {
  readonly finding: Finding
  /** Its number; undefined where it is not known. */
  readonly number: number | undefined
}

/**
 * Looks how new the newest block is.
 *
 * @param probe - The address.
 * @param chainId - On a chain for development blocks may be old.
 */
export async function checkHead({ request, seen }: Pick<Probe, 'request' | 'seen'>, chainId: number): Promise<Head> {
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
          text: 'the latest block is answered by something that is no block',
          fix: 'look whether the node has begun to follow its chain',
        },
        number: undefined,
      }
    }
    const ageMs = (seen()?.answeredAt ?? Date.now()) - at
    const facts = { block: height, ageMs }
    const text = `block ${height}, ${ageWords(ageMs)} old`
    const isStale = ageMs > staleMs && !isDevelopmentChain(chainId)
    return {
      finding: isStale
        ? {
            check: 'head',
            level: 'warn',
            text,
            fix: 'compare it with a block explorer: a node that is behind answers with what was',
            facts,
          }
        : { check: 'head', level: 'ok', text, facts },
      number: height,
    }
  } catch (error) {
    const { text, fix, kind } = describeFailure(error)
    return {
      finding: { check: 'head', level: 'fail', text, fix, facts: { kind } },
      number: undefined,
    }
  }
}
