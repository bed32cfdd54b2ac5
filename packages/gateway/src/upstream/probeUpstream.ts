import { readAnswer } from './readAnswer.ts'
import type { Upstream } from './createUpstream.ts'

/** What a probe found. `unreachable`: nothing listens there. `failing`: something does, but gave no answer that can be believed. */
export type ProbeResult = 'healthy' | 'unreachable' | 'failing' | 'wrongChain'

const maxProbeBytes = 64 * 1024

/**
 * Asks an upstream for its chain id.
 * @param options.chainId - What it must answer.
 * @param options.timeoutMs - How long it may take.
 */
export const probeUpstream = (
  upstream: Upstream,
  options: { chainId: number; timeoutMs: number },
): Promise<ProbeResult> =>
  new Promise((resolve) => {
    const stop = upstream.post({
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
      budget: { left: maxProbeBytes },
      done: (fault, answer) => {
        clearTimeout(timer)
        if (answer === undefined) resolve(fault === 'unsent' ? 'unreachable' : 'failing')
        else resolve(judge(answer.body, options.chainId))
      },
    })
    const timer = setTimeout(() => {
      stop()
      resolve('failing')
    }, options.timeoutMs)
  })

const judge = (body: Buffer, chainId: number): ProbeResult => {
  const answer = readAnswer(body, '1')
  if (answer?.member !== 'result') return 'failing'
  const said = /^"(0x[0-9a-fA-F]{1,16})"$/.exec(answer.value.toString('latin1'))?.[1]
  if (said === undefined) return 'failing'
  return BigInt(said) === BigInt(chainId) ? 'healthy' : 'wrongChain'
}
