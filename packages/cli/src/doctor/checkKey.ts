import { explainFailure } from './explainFailure.ts'
import type { FailureExplanation } from './explainFailure.ts'
import type { Finding } from './finding.ts'
import { noRetry } from './probe.ts'
import type { Probe } from './probe.ts'

/** The result of checking the key. */
export interface KeyCheck {
  readonly finding: Finding
  /** Undefined if the call failed. */
  readonly chainId: number | undefined
  /** Whether there was no valid response, as opposed to a rejection. */
  readonly noResponse: boolean
}

const fail = ({ text, fix, kind, reason }: FailureExplanation): Finding => ({
  check: 'key',
  level: 'fail',
  text,
  fix,
  facts: { kind, reason: reason ?? null },
})

/** Checks that the key is accepted, by calling `eth_chainId`. */
export async function checkKey({ request }: Pick<Probe, 'request'>): Promise<KeyCheck> {
  try {
    const result: unknown = await request({ method: 'eth_chainId' }, noRetry)
    const isQuantity = typeof result === 'string' && /^0x[\da-f]{1,14}$/i.test(result)
    const chainId = isQuantity ? Number(result) : undefined
    if (chainId !== undefined) {
      return { finding: { check: 'key', level: 'ok', text: 'the key is accepted' }, chainId, noResponse: false }
    }
    return {
      finding: fail({
        text: 'eth_chainId did not return a number',
        fix: 'check that the URL is the endpoint of an Ethereum node',
        kind: 'badResponse',
        reason: undefined,
      }),
      chainId: undefined,
      noResponse: true,
    }
  } catch (error) {
    const failure = explainFailure(error)
    return {
      finding: fail(failure),
      chainId: undefined,
      noResponse: ['network', 'timeout', 'badResponse'].includes(failure.kind),
    }
  }
}
