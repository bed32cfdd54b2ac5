import { scanItems } from '../../lib/json/scanMembers.ts'
import { rejections } from '../../errors/rejections.ts'
import type { CallScope, SendCall } from './callScope.ts'
import { forwardCall } from './forward.ts'
import type { Filter } from './createFilters.ts'
import type { NodeResponse } from './readResponse.ts'

/** The responses of nodes to an id that they do not know. */
const notFound: NodeResponse = {
  member: 'error',
  value: Buffer.from('{"code":-32000,"message":"filter not found"}'),
}
const notRemoved: NodeResponse = { member: 'result', value: Buffer.from('false') }

const nodeFilterId = /^(?:"[^"\\]{1,200}"|[0-9]{1,20})$/
const noop = (): void => {}

/**
 * Runs a call about a filter. Callers know a filter by an id of the gateway, and the call goes to the node that created it.
 * If that node is down and another is up, the filter is not found, so the caller creates a new one on the other node. A filter that was
 * created before its key's settings changed is not found either: it may match more than they allow now.
 */
export const sendFilterCall: SendCall = (call, scope, options, done) => {
  const { group, keyId, keyVersion } = scope
  if (call.traits.filter === 'create') return createFilter(call, scope, options, done)
  // Its node is known, so the network is in use without `pick`.
  group.markUsed()
  const id = parseFilterId(call.params)
  const filter = id === undefined ? undefined : group.filters.find(id, keyId)
  const unknown = call.traits.filter === 'remove' ? notRemoved : notFound
  if (id === undefined || filter === undefined) {
    done(unknown)
    return noop
  }
  if (filter.keyVersion !== keyVersion && call.traits.filter !== 'remove') {
    group.filters.remove(id)
    removeAtNode(filter, scope)
    done(unknown)
    return noop
  }
  if (!filter.member.health.isUsable()) {
    if (group.pick({ tried: [filter.member] }) === undefined) done(rejections.noUpstream(group.network))
    else {
      group.filters.remove(id)
      done(unknown)
    }
    return noop
  }
  if (call.traits.filter === 'remove') group.filters.remove(id)
  return forwardCall({ ...call, params: `[${filter.nodeId}]` }, scope, { ...options, only: filter.member }, done)
}

const createFilter: SendCall = (call, scope, options, done) =>
  forwardCall(call, scope, options, (result, member) => {
    if (member === undefined || !('value' in result) || result.member === 'error') {
      done(result, member)
      return
    }
    const nodeId = result.value.toString('latin1')
    if (!nodeFilterId.test(nodeId)) {
      done(rejections.upstreamBad(), member)
      return
    }
    const { keyId, keyVersion } = scope
    const { id, dropped } = scope.group.filters.add({ keyId, keyVersion, member, nodeId })
    if (dropped !== undefined) removeAtNode(dropped, scope)
    done({ member: 'result', value: Buffer.from(`"${id}"`) }, member)
  })

/** Removes a filter that was evicted, or that belongs to former settings, from its node too. Nothing waits for it. */
const removeAtNode = ({ member, nodeId }: Filter, scope: CallScope): void => {
  const traits = { idempotent: true, expensive: false, weight: 1, label: '' }
  const call = { method: 'eth_uninstallFilter', params: `[${nodeId}]`, traits }
  const own = { ...scope, budget: { left: 1024 }, maxResponseBytes: 1024, trace: undefined }
  forwardCall(call, own, { only: member }, noop)
}

/** Parses the gateway's id in the params. Like a node, it ignores all other params. */
const parseFilterId = (params: string | undefined): string | undefined => {
  const first = params === undefined ? undefined : scanItems(params, 0, 1)?.items[0]
  if (params === undefined || first === undefined) return undefined
  return /^"(0x[0-9a-f]{32})"$/i.exec(params.slice(first.start, first.end))?.[1]?.toLowerCase()
}
