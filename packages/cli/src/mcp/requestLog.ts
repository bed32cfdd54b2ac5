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

/** How many requests of each app and key are searched for an id. */
const maxSearched = 1_000
const pageSize = 100

/** Lists the apps and API keys of the account. */
export async function listKeyOwners(api: ControlApiClient): Promise<readonly KeyOwner[]> {
  const [apps, keys] = await Promise.all([api('GET /api/apps', { query: {} }), api('GET /api/keys', {})])
  return [
    ...apps.items.map(({ id, name }): KeyOwner => ({ type: 'app', id, name })),
    ...keys.items.map(({ id, name }): KeyOwner => ({ type: 'key', id, name })),
  ]
}

const readPage = (
  api: ControlApiClient,
  { type, id }: KeyOwner,
  query: { cursor?: string; limit: number; outcome?: string },
) =>
  type === 'app'
    ? api('GET /api/apps/{appId}/requests', { params: { appId: id }, query })
    : api('GET /api/keys/{keyId}/requests', { params: { keyId: id }, query })

/** Lists the newest failed requests of all apps and API keys, the newest first. */
export async function listFailures(api: ControlApiClient, max: number): Promise<readonly OwnedRequest[]> {
  const owners = await listKeyOwners(api)
  const pages = await Promise.all(
    owners.map(async (owner) => {
      const { items } = await readPage(api, owner, { outcome: 'failed', limit: Math.min(max, pageSize) })
      return items.map((request): OwnedRequest => ({ owner, request }))
    }),
  )
  return pages
    .flat()
    .sort((one, other) => (one.request.at < other.request.at ? 1 : -1))
    .slice(0, max)
}

/**
 * Finds a request by the id that its response had in `X-Request-Id`.
 *
 * @returns The request with excerpts; undefined if it is not among the newest 1,000 of each app and API key.
 */
export async function findRequest(
  api: ControlApiClient,
  requestId: string,
): Promise<{ readonly owner: KeyOwner; readonly request: RequestDetailsView } | undefined> {
  for (const owner of await listKeyOwners(api)) {
    let cursor: string | undefined
    for (let read = 0; read < maxSearched; read += pageSize) {
      const { items, next } = await readPage(api, owner, {
        limit: pageSize,
        ...(cursor === undefined ? {} : { cursor }),
      })
      const found = items.find((item) => item.requestId === requestId)
      if (found) return { owner, request: await readDetails(api, owner, found.id) }
      if (next === null) break
      cursor = next
    }
  }
  return undefined
}

const readDetails = (api: ControlApiClient, { type, id }: KeyOwner, logId: string): Promise<RequestDetailsView> =>
  type === 'app'
    ? api('GET /api/apps/{appId}/requests/{logId}', { params: { appId: id, logId } })
    : api('GET /api/keys/{keyId}/requests/{logId}', { params: { keyId: id, logId } })
