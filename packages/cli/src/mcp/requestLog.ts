import type { RequestDetailsView, RequestEntryView } from '@keyrail/gateway'
import type { ControlApiClient } from '../control/controlApi.ts'

/** What has a key and a request log: an app or an API key. */
export interface KeyOwner {
  readonly type: 'app' | 'key'
  readonly id: string
  readonly name: string
}

/** A request in the log, and whose key it had. */
export interface OwnedRequest {
  readonly owner: KeyOwner
  readonly request: RequestEntryView
}

/** How much one tool reads at most: an account may make 200 reads at once, and its dashboard makes some, too. */
export const maxPages = 100
const pageSize = 100

/** Lists the apps of the account. */
export async function listApps(api: ControlApiClient): Promise<readonly KeyOwner[]> {
  const apps: KeyOwner[] = []
  let cursor: string | null | undefined
  do {
    const query = { limit: pageSize, ...(typeof cursor === 'string' ? { cursor } : {}) }
    const page = await api('GET /api/apps', { query })
    apps.push(...page.items.map(({ id, name }): KeyOwner => ({ type: 'app', id, name })))
    cursor = page.next
  } while (cursor !== null)
  return apps
}

/** Lists the apps and API keys of the account. */
export async function listKeyOwners(api: ControlApiClient): Promise<readonly KeyOwner[]> {
  const { items } = await api('GET /api/keys', {})
  return [...(await listApps(api)), ...items.map(({ id, name }): KeyOwner => ({ type: 'key', id, name }))]
}

const readPage = (
  api: ControlApiClient,
  { type, id }: KeyOwner,
  query: { cursor?: string; limit: number; outcome?: string },
) =>
  type === 'app'
    ? api('GET /api/apps/{appId}/requests', { params: { appId: id }, query })
    : api('GET /api/keys/{keyId}/requests', { params: { keyId: id }, query })

/** Lists the newest failed requests of up to 100 apps and API keys, the newest first. */
export async function listFailures(api: ControlApiClient, max: number): Promise<readonly OwnedRequest[]> {
  const owners = await listKeyOwners(api)
  const pages = await Promise.all(
    owners.slice(0, maxPages).map(async (owner) => {
      const { items } = await readPage(api, owner, { outcome: 'failed', limit: Math.min(max, pageSize) })
      return items.map((request): OwnedRequest => ({ owner, request }))
    }),
  )
  return pages
    .flat()
    .sort((one, other) => other.request.at.localeCompare(one.request.at))
    .slice(0, max)
}

/**
 * Finds a request by the id that its response had in `X-Request-Id`: in the newest 100 requests of each app and API key, then in the next 100, and
 * so on.
 *
 * @returns The request with excerpts; undefined if it is not in the first 100 pages.
 */
export async function findRequest(
  api: ControlApiClient,
  requestId: string,
): Promise<{ readonly owner: KeyOwner; readonly request: RequestDetailsView } | undefined> {
  const left: { readonly owner: KeyOwner; readonly cursor?: string }[] = (await listKeyOwners(api)).map((owner) => ({
    owner,
  }))
  for (let read = 0; read < maxPages; read += 1) {
    const place = left.shift()
    if (place === undefined) return undefined
    const { owner, ...from } = place
    const { items, next } = await readPage(api, owner, { limit: pageSize, ...from })
    const found = items.find((item) => item.requestId === requestId)
    if (found) return { owner, request: await readDetails(api, owner, found.id) }
    if (next !== null) left.push({ owner, cursor: next })
  }
  return undefined
}

const readDetails = (api: ControlApiClient, { type, id }: KeyOwner, logId: string): Promise<RequestDetailsView> =>
  type === 'app'
    ? api('GET /api/apps/{appId}/requests/{logId}', { params: { appId: id, logId } })
    : api('GET /api/keys/{keyId}/requests/{logId}', { params: { keyId: id, logId } })
