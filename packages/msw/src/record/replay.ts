import type { AddressOptions } from '@keyrail/core'
import { dialects } from '../faults/dialects.ts'
import type { Personality } from '../faults/dialects.ts'
import { createDoor } from '../http/createDoor.ts'
import type { MockNode } from '../mockNode.ts'
import { refused } from '../refused.ts'
import { RpcFailure } from '../rpc/rpcFailure.ts'
import { warnOnce } from '../warnOnce.ts'
import { callKey, nodeFiles } from './recorded.ts'
import type { RecordedCall, RecordedCalls } from './recorded.ts'

/** Where a recording is replayed: any address, not only the one that it was made at. */
export type ReplayOptions = (AddressOptions | { readonly endpoints: readonly AddressOptions[] }) & {
  /** In whose words faults fail. @default 'keyrail' */
  readonly personality?: Personality | undefined
}

/** A node that knows what was recorded. */
export type ReplayNode = Pick<MockNode, 'handlers' | 'fail' | 'heal' | 'calls'>

async function callsOf(source: string | RecordedCalls | readonly RecordedCall[]): Promise<readonly RecordedCall[]> {
  let given: unknown = source
  if (typeof source === 'string') {
    const files = nodeFiles()
    if (files === undefined) throw refused('replay of a file needs Node: in a browser pass what it holds')
    given = JSON.parse(await files.readFile(source, 'utf8'))
  }
  const calls = Array.isArray(given) ? (given as RecordedCall[]) : (given as RecordedCalls | null)?.calls
  if (!Array.isArray(calls)) throw refused('replay takes what record saved: { calls: [{ method, params, result }] }')
  return calls as RecordedCall[]
}

/**
 * Answers with what was recorded: a call that was made several times with its answers in their order, the last of them again and again.
 * A call that was not recorded is answered -32601, and told once in the console.
 *
 * @param source - A file that `record` saved (Node only), or what it holds.
 * @throws {KeyrailError} kind `invalidRequest` if that is no recording, for a wrong address, or on a Node older than 22.12.
 * @example
 * const node = await replay('calls.json', { baseUrl: 'https://node.example/testnet', apiKey: 'kr_a…' })
 * // setupServer(...node.handlers).listen()
 */
export async function replay(
  source: string | RecordedCalls | readonly RecordedCall[],
  options: ReplayOptions,
): Promise<ReplayNode> {
  const answers = new Map<string, RecordedCall[]>()
  for (const call of await callsOf(source)) {
    const key = callKey(call.method, call.params)
    answers.set(key, [...(answers.get(key) ?? []), call])
  }
  const printed = new Set<string>()
  const run = (method: string, params: readonly unknown[]): unknown => {
    const known = answers.get(callKey(method, params))
    const next = known !== undefined && known.length > 1 ? known.shift() : known?.[0]
    if (next === undefined) {
      const sentence = `the method ${method} was not recorded with these params`
      warnOnce(printed, sentence)
      throw new RpcFailure(-32_601, sentence)
    }
    if (next.error !== undefined) throw new RpcFailure(next.error.code, next.error.message, next.error.data)
    return next.result
  }
  const { personality = 'keyrail' } = options
  const { handlers, fail, heal, calls } = createDoor({
    address: options,
    personality,
    maxBatch: (voice) => dialects[voice].maxBatch ?? Infinity,
    run,
  })
  return { handlers, fail, heal, calls }
}
