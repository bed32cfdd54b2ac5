import type { EndpointUrlOptions } from '@keyrail/core'
import { providers } from '../faults/providers.ts'
import type { ProviderName } from '../faults/providers.ts'
import { createMockServer } from '../http/createMockServer.ts'
import { invalidInput } from '../invalidInput.ts'
import type { MockNode } from '../mockNode.ts'
import { RpcError } from '../rpc/rpcError.ts'
import { warnOnce } from '../warnOnce.ts'
import { callKey, nodeFiles } from './recorded.ts'
import type { RecordedCall, RecordedCalls } from './recorded.ts'

/** The endpoint at which to replay. It can differ from the recorded one. */
export type ReplayOptions = (EndpointUrlOptions | { readonly endpoints: readonly EndpointUrlOptions[] }) & {
  /** The provider whose error responses `fail` uses. @default 'keyrail' */
  readonly provider?: ProviderName | undefined
}

/** A node that replays a recording. */
export type ReplayNode = Pick<MockNode, 'handlers' | 'fail' | 'clearFaults' | 'calls'>

async function readCalls(source: string | RecordedCalls | readonly RecordedCall[]): Promise<readonly RecordedCall[]> {
  let content: unknown = source
  if (typeof source === 'string') {
    const files = nodeFiles()
    if (files === undefined) throw invalidInput('replay cannot read a file in a browser. Pass its content')
    content = JSON.parse(await files.readFile(source, 'utf8'))
  }
  const calls = Array.isArray(content) ? (content as RecordedCall[]) : (content as RecordedCalls | null)?.calls
  if (!Array.isArray(calls))
    throw invalidInput(
      'The recording has no list of calls. Pass what record saved: { calls: [{ method, params, result }] }',
    )
  return calls as RecordedCall[]
}

/**
 * Responds with recorded results. If a call was recorded several times, its responses are returned in order, and the last one repeats.
 * A call that was not recorded fails with -32601, and prints one warning in the console.
 *
 * @param source - A file that `record` saved (Node only), or its content.
 * @param options - The endpoint at which to replay, and the provider whose errors `fail` uses.
 * @throws {KeyrailError} kind `invalidRequest` if `source` is not a recording, for a wrong option, or on Node older than 22.12.
 * @example
 * const node = await replay('calls.json', { baseUrl: 'https://node.example/testnet', apiKey: 'kr_a…' })
 * // setupServer(...node.handlers).listen({ onUnhandledFrame })
 */
export async function replay(
  source: string | RecordedCalls | readonly RecordedCall[],
  options: ReplayOptions,
): Promise<ReplayNode> {
  const recorded = new Map<string, RecordedCall[]>()
  for (const call of await readCalls(source)) {
    const key = callKey(call.method, call.params)
    recorded.set(key, [...(recorded.get(key) ?? []), call])
  }
  const printed = new Set<string>()
  const run = (method: string, params: readonly unknown[]): unknown => {
    const matching = recorded.get(callKey(method, params))
    const next = matching !== undefined && matching.length > 1 ? matching.shift() : matching?.[0]
    if (next === undefined) {
      const message = `The call of ${method} with these params was not recorded. Record it`
      warnOnce(printed, message)
      throw new RpcError(-32_601, message)
    }
    if (next.error !== undefined) throw new RpcError(next.error.code, next.error.message, next.error.data)
    return next.result
  }
  const { provider = 'keyrail' } = options
  const { handlers, fail, clearFaults, calls } = createMockServer({
    endpoint: options,
    provider,
    maxBatch: (name) => providers[name].maxBatch ?? Infinity,
    run,
  })
  return { handlers, fail, clearFaults, calls }
}
