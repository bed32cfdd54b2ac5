import { scanItems } from '../../lib/json/scanMembers.ts'
import { rejections } from '../../errors/rejections.ts'
import { forwardCall } from './forwardCall.ts'
import type { ForwardedCall } from './forwardCall.ts'
import type { ProxyOptions } from './proxyOptions.ts'
import type { CallDone } from './callResult.ts'
import type { Filter } from './createFilters.ts'
import type { NodeResponse } from './readResponse.ts'

/** What nodes themselves say of an id that they do not know. */
const notFound: NodeResponse = {
  member: 'error',
  value: Buffer.from('{"code":-32000,"message":"filter not found"}'),
}
const notRemoved: NodeResponse = { member: 'result', value: Buffer.from('false') }

const nodeFilterId = /^(?:"[^"\\]{1,200}"|[0-9]{1,20})$/
const nothing = (): void => {}

/**
 * Carries a call about a filter. Its caller knows it by an id of ours, and it is asked of the node that made it.
 * Where that node is gone and another is there, the filter is too: its caller makes a new one, on the other. So is one that was made
 * before its key's settings changed: it may tell of what they do not allow any more.
 */
export const proxyFilterCall = (call: ForwardedCall, options: ProxyOptions, done: CallDone): (() => void) => {
  const { group, keyId, keyVersion } = options
  if (call.traits.filter === 'make') return makeFilter(call, options, done)
  const id = idOf(call.params)
  const filter = id === undefined ? undefined : group.filters.find(id, keyId)
  const unknown = call.traits.filter === 'end' ? notRemoved : notFound
  if (id === undefined || filter === undefined) {
    done(unknown)
    return nothing
  }
  if (filter.keyVersion !== keyVersion && call.traits.filter !== 'end') {
    group.filters.remove(id)
    removeAtNode(filter, options)
    done(unknown)
    return nothing
  }
  if (!filter.member.health.healthy()) {
    if (group.pick(filter.member) === undefined) done(rejections.noUpstream(group.network))
    else {
      group.filters.remove(id)
      done(unknown)
    }
    return nothing
  }
  if (call.traits.filter === 'end') group.filters.remove(id)
  return forwardCall({ ...call, params: `[${filter.nodeId}]` }, { ...options, only: filter.member }, done)
}

const makeFilter = (call: ForwardedCall, options: ProxyOptions, done: CallDone): (() => void) =>
  forwardCall(call, options, (end, member) => {
    if (member === undefined || !('value' in end) || end.member === 'error') {
      done(end, member)
      return
    }
    const nodeId = end.value.toString('latin1')
    if (!nodeFilterId.test(nodeId)) {
      done(rejections.upstreamBad(), member)
      return
    }
    const { keyId, keyVersion } = options
    const { id, dropped } = options.group.filters.add({ keyId, keyVersion, member, nodeId })
    if (dropped !== undefined) removeAtNode(dropped, options)
    done({ member: 'result', value: Buffer.from(`"${id}"`) }, member)
  })

/** A filter that made room, or is of other settings, is ended at its node as well. Nobody waits for that. */
const removeAtNode = ({ member, nodeId }: Filter, { group, keyId, ownerId, timeoutMs }: ProxyOptions): void => {
  const traits = { idempotent: true, heavy: false, label: '' }
  const call = { method: 'eth_uninstallFilter', params: `[${nodeId}]`, traits }
  forwardCall(
    call,
    { group, keyId, ownerId, timeoutMs, budget: { left: 1024 }, maxResponseBytes: 1024, only: member },
    nothing,
  )
}

/** Our id in the params; nothing else of them is looked at, as nodes do. */
const idOf = (params: string | undefined): string | undefined => {
  const first = params === undefined ? undefined : scanItems(params, 0, 1)?.items[0]
  if (params === undefined || first === undefined) return undefined
  return /^"(0x[0-9a-f]{32})"$/i.exec(params.slice(first.start, first.end))?.[1]?.toLowerCase()
}
