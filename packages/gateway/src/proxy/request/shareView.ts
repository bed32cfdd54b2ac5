import type { CallerView, SharedView } from '../../usage/limits/usageLimits.ts'
import type { GatewayContext } from './gatewayContext.ts'
import type { AuthorizedRequest } from './requestContext.ts'

/** How old the time of a shared head may be before a request refreshes it, in milliseconds. */
const refreshMs = 1_000

/**
 * Gets what the other instances must know about a key's callers after a request, with the limits.
 * @returns `undefined` if there are no others, or if the network has a single node, which cannot be older than itself.
 */
export const getSharedView = (
  { usage: { limits } }: GatewayContext,
  { tenant, network: { group } }: AuthorizedRequest,
): SharedView | undefined =>
  limits?.share === undefined || !group.several ? undefined : toSharedView(tenant.record.id, group, refreshMs)

/** Applies what the other instances know about the key's callers, before calls are forwarded. */
export const learnView = ({ tenant, network: { group } }: AuthorizedRequest, view: CallerView): void => {
  const { id } = tenant.record
  // Another caller's identical read may be older than a write that another instance has forwarded.
  if (group.views.learn(id, view)) group.inFlightReads.markChanged(id)
}

/**
 * Shares with the other instances what the calls of a request have shown, before it completes: its caller's next call may reach another one.
 * @returns `undefined` if it may complete at once: there is neither a newer block nor a write.
 */
export const shareView = (gateway: GatewayContext, authorized: AuthorizedRequest): Promise<void> | undefined => {
  const { tenant, network } = authorized
  const { limits } = gateway.usage
  const { quota, record } = tenant
  const isShared = limits?.share !== undefined && network.group.several && quota !== undefined
  const view = isShared ? toSharedView(record.id, network.group) : undefined
  const shared = view?.news && quota && limits?.share?.(quota, view)
  return shared?.then((learned) => {
    if (learned !== undefined) learnView(authorized, learned)
  })
}

const toSharedView = (
  keyId: string,
  { network, views }: AuthorizedRequest['network']['group'],
  refreshMs?: number,
): SharedView => ({ id: `${keyId}:${network}`, news: views.getNews(keyId, refreshMs) })
