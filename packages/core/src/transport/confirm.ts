import { check, checkNames, checkRange } from '../failure/check.ts'
import { describeType } from '../failure/describeType.ts'
import { isReadMethod } from '../failure/isReadMethod.ts'
import { cacheKind } from './cacheRule.ts'
import { getBlockPosition } from './route/routeBlock.ts'
import type { ConfirmFeature } from './route/confirmFeature.ts'
import { sendToVoters } from './route/sendToVoters.ts'

/** Options of {@link confirm}. */
export interface ConfirmOptions {
  /** How many endpoints of different groups must agree, from 2 to 10. @default 2 */
  readonly nodes?: number | undefined
  /** The methods whose results are confirmed. @default all reads of a block, a transaction or logs */
  readonly methods?: readonly string[] | undefined
}

/**
 * Uses the result of a read only if several endpoints agree on it. Pass it to `failover`.
 *
 * **One block.** `latest`, `safe`, `finalized` or no block become the number of the lowest such block of the endpoints, and never one below that of
 * an earlier result. That costs a small request at each endpoint, which reads at the same time share.
 *
 * **Meaning.** Results are compared by what they mean: the order of members, the case of hex, and members that only some clients send do not
 * matter. A revert is the same if its data is. The call gets the first response, unchanged.
 *
 * **Disagreement.** One more endpoint is asked. If still too few agree, the call fails with kind `unavailable`, and is retried. An endpoint that
 * fails has no vote and is replaced. Endpoints with one host and port, or one `group`, have one vote.
 *
 * @param options - How many must agree, and for which methods.
 * @throws {KeyrailError} kind `invalidRequest` if an option is wrong.
 * @example
 * import { confirm, createTransport, failover } from '@keyrail/core'
 *
 * const transport = createTransport({
 *   endpoints: failover([{ url: 'https://one.example' }, { url: 'https://two.example' }, { url: 'https://three.example' }], {
 *     confirm: confirm({ nodes: 2 }),
 *   }),
 * })
 */
export function confirm(options: ConfirmOptions = {}): ConfirmFeature {
  checkNames('confirm', options, ['nodes', 'methods'])
  const { nodes = 2, methods } = options
  checkRange('nodes', nodes, 2, 10)
  check(
    methods === undefined || (Array.isArray(methods) && methods.every(isConfirmable)),
    `methods of confirm must be an array of reads of a block, a transaction or logs, not ${describeType(methods)}`,
  )
  const confirms = (method: string): boolean => (methods ? methods.includes(method) : isConfirmable(method))
  const open: ConfirmFeature['open'] = (endpoints) => {
    const groups = endpoints.map(({ group, redactedUrl }) => group ?? new URL(redactedUrl).host)
    const { size } = new Set(groups)
    check(
      size >= nodes,
      `confirm needs ${nodes} endpoints of different hosts, and there are ${size}: add endpoints, or name their group if they are independent`,
    )
    const voting = { nodes, groups, seen: new Map() }
    return (route, call, complete, minBlock) => {
      const isConfirmed = confirms(call.method)
      if (isConfirmed) sendToVoters(route, call, complete, { voting, minBlock })
      return isConfirmed
    }
  }
  return Object.freeze({ open })
}

const isConfirmable = (method: string): boolean => {
  const kind = cacheKind(method)
  return isReadMethod(method) && (getBlockPosition(method) !== undefined || kind === 'block' || kind === 'transaction')
}
