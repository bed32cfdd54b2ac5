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

/** Which checks to run. */
export interface ExamineOptions {
  /** The expected chain id; undefined: any. */
  readonly chainId: number | undefined
  /** How many calls to measure the latency with. */
  readonly calls: number
  /** The batch size to try; 0: none. */
  readonly batch: number
  /** The block range of `eth_getLogs` to try; 0: none. */
  readonly logRange: number
  /** The origin of the page that will call the endpoint; undefined: none. */
  readonly origin: string | undefined
  readonly timeoutMs: number
}

/** The result of all checks. */
export interface Examination {
  readonly findings: readonly Finding[]
  /** Whether there was no valid response, as opposed to a rejection. */
  readonly noResponse: boolean
}

/**
 * Checks an endpoint, from the connection up. Checks whose prerequisites failed are skipped.
 *
 * @param endpoint - The URL and the key.
 * @param options - Which checks to run.
 * @param onFinding - Called with each finding as soon as it is known.
 * @throws {KeyrailError} kind `invalidRequest` if the endpoint is invalid.
 */
export async function examine(
  endpoint: EndpointUrlOptions,
  options: ExamineOptions,
  onFinding: (finding: Finding) => Promise<void>,
): Promise<Examination> {
  const findings: Finding[] = []
  const add = async (...more: readonly Finding[]): Promise<void> => {
    for (const finding of more) {
      findings.push(finding)
      await onFinding(finding)
    }
  }
  const { timeoutMs } = options
  const probe = createProbe(endpoint, { timeoutMs })
  try {
    const url = new URL(getUrl(endpoint))
    const connection = await checkReach(url, { timeoutMs })
    await add(...connection)
    if (connection.some(({ level }) => level === 'fail')) return { findings, noResponse: true }

    const { finding, chainId, noResponse } = await checkKey(probe)
    await add(finding)
    if (chainId !== undefined) {
      const announced = probe.lastResponse()?.headers.get('x-chain-id')
      await add(checkChain({ actual: chainId, expected: options.chainId, announced }))
      const head = await checkHead(probe, chainId)
      await add(head.finding, await checkLatency(probe, options.calls))
      if (options.batch > 1) await add(await checkBatch(probe, options.batch))
      if (options.logRange > 0 && head.number !== undefined) {
        await add(await checkLogs(probe, head.number, options.logRange))
      }
      if (options.origin !== undefined) await add(await checkCors(probe, options.origin))
    }
    const response = probe.lastResponse()
    if (response !== undefined) await add(checkLimits(response.headers), checkClock(response))
    return { findings, noResponse }
  } finally {
    probe.close()
  }
}

/** Gets the URL without the key. `createProbe` has already validated it. */
function getUrl({ url, baseUrl, rpcUrl }: EndpointUrlOptions): string {
  const text = url ?? baseUrl ?? rpcUrl
  return typeof text === 'string' ? text : (Object.values(text ?? {})[0] ?? '')
}
