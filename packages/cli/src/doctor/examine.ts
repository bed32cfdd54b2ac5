import type { EndpointUrlOptions } from '@keyrail/core'
import { checkBatch } from './checkBatch.ts'
import { checkChain } from './checkChain.ts'
import { checkClock } from './checkClock.ts'
import { checkCors } from './checkCors.ts'
import { checkHead } from './checkHead.ts'
import { checkKey } from './checkKey.ts'
import { checkLatency } from './checkLatency.ts'
import { checkLimits } from './checkLimits.ts'
import { checkLogs } from './checkLogs.ts'
import { checkReach } from './checkReach.ts'
import type { Finding } from './finding.ts'
import { createProbe } from './probe.ts'

/** How thoroughly an address is examined. */
export interface ExamineOptions {
  /** The chain id that it should have; undefined: any. */
  readonly chainId: number | undefined
  /** How many calls the latency is measured by. */
  readonly calls: number
  /** How many calls are tried in one request; 0: none. */
  readonly batch: number
  /** Over how many blocks logs are asked for; 0: none. */
  readonly logRange: number
  /** The page that will use it; undefined: none. */
  readonly origin: string | undefined
  readonly timeoutMs: number
}

/** What came of it. */
export interface Examined {
  readonly findings: readonly Finding[]
  /** Whether nobody answered, as against being rejected. */
  readonly unanswered: boolean
}

/**
 * Examines an address from the outside in: what needs what is not there is left out.
 *
 * @param address - Where it is, with its key.
 * @param options - How thoroughly.
 * @param tell - Told of each finding when it is made.
 * @throws {KeyrailError} kind `invalidRequest` where the address cannot be right.
 */
export async function examine(
  address: EndpointUrlOptions,
  options: ExamineOptions,
  tell: (finding: Finding) => Promise<void>,
): Promise<Examined> {
  const findings: Finding[] = []
  const found = async (...more: readonly Finding[]): Promise<void> => {
    for (const finding of more) {
      findings.push(finding)
      await tell(finding)
    }
  }
  const { timeoutMs } = options
  const probe = createProbe(address, { timeoutMs })
  try {
    const url = new URL(urlOf(address))
    const outside = await checkReach(url, { timeoutMs })
    await found(...outside)
    if (outside.some(({ level }) => level === 'fail')) return { findings, unanswered: true }

    const { finding, chainId, unanswered } = await checkKey(probe)
    await found(finding)
    if (chainId !== undefined) {
      const announced = probe.seen()?.headers.get('x-chain-id')
      await found(checkChain({ answered: chainId, expected: options.chainId, announced }))
      const head = await checkHead(probe, chainId)
      await found(head.finding, await checkLatency(probe, options.calls))
      if (options.batch > 1) await found(await checkBatch(probe, options.batch))
      if (options.logRange > 0 && head.number !== undefined) {
        await found(await checkLogs(probe, head.number, options.logRange))
      }
      if (options.origin !== undefined) await found(await checkCors(probe, options.origin))
    }
    const seen = probe.seen()
    if (seen !== undefined) await found(checkLimits(seen.headers), checkClock(seen))
    return { findings, unanswered }
  } finally {
    probe.close()
  }
}

/** What of an address says where it is; the probe has looked at it before. */
function urlOf({ url, baseUrl, rpcUrl }: EndpointUrlOptions): string {
  const text = url ?? baseUrl ?? rpcUrl
  return typeof text === 'string' ? text : (text?.['testnet'] ?? '')
}
