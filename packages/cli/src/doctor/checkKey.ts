import { describeFailure } from './describeFailure.ts'
import type { FailureDescription } from './describeFailure.ts'
import type { Finding } from './finding.ts'
import { once } from './probe.ts'
import type { Probe } from './probe.ts'

/** What asking for the chain came to. */
export interface FirstAnswer {
  readonly finding: Finding
  /** What was answered, where it was. */
  readonly chainId: number | undefined
  /** Whether nobody answered, as against being rejected. */
  readonly unanswered: boolean
}

const failed = ({ text, fix, kind, reason }: FailureDescription): Finding => ({
  check: 'key',
  level: 'fail',
  text,
  fix,
  facts: { kind, reason: reason ?? null },
})

/** Looks whether the key is let in, by asking for the chain id. */
export async function checkKey({ request }: Pick<Probe, 'request'>): Promise<FirstAnswer> {
  try {
    const answer: unknown = await request({ method: 'eth_chainId' }, once)
    const isQuantity = typeof answer === 'string' && /^0x[\da-f]{1,14}$/i.test(answer)
    const chainId = isQuantity ? Number(answer) : undefined
    if (chainId !== undefined) {
      return {
        finding: { check: 'key', level: 'ok', text: 'it is let in, and answered' },
        chainId,
        unanswered: false,
      }
    }
    const words = {
      text: 'eth_chainId is answered by something that is no number',
      kind: 'badResponse',
      reason: undefined,
    }
    return {
      finding: failed({ ...words, fix: 'is it the address of an Ethereum node?' }),
      chainId: undefined,
      unanswered: true,
    }
  } catch (error) {
    const words = describeFailure(error)
    return {
      finding: failed(words),
      chainId: undefined,
      unanswered: ['network', 'timeout', 'badResponse'].includes(words.kind),
    }
  }
}
