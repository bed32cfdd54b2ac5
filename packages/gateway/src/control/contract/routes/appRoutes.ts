import { z } from 'zod'
import { confirmBody } from '../account.ts'
import { keyTrafficView } from '../activity.ts'
import {
  addAllowEntryBody,
  allowEntryView,
  allowListPreview,
  allowListPreviewQuery,
  allowListQuery,
  allowListView,
  editAllowEntryBody,
  originsView,
} from '../allowEntry.ts'
import { appSecret, appsQuery, appView, createAppBody, deleteAppBody, editAppBody, keyExpiryBody } from '../app.ts'
import { addJwtKeyBody, jwtKeysView, jwtKeyView, jwtTestView, testJwtBody } from '../jwtKey.ts'
import { rotateBody } from '../keyState.ts'
import { metricsCsvQuery, metricsQuery, metricsView } from '../metrics.ts'
import { perNetwork } from '../networks.ts'
import { pageSchema } from '../page.ts'
import { requestDetails, requestEntry, requestsCsvQuery, requestsQuery } from '../requestLog.ts'
import { idText } from '../texts.ts'
import { usageView } from '../usage.ts'
import type { RoutesBelow } from '../route.ts'

const appId = z.strictObject({ appId: idText('app') })
const entryId = appId.extend({ entryId: idText('alw') })
const kid = appId.extend({ kid: z.string().regex(/^[\w-]{1,64}$/) })
const secretApp = z.strictObject({ app: appView, apiKey: z.string(), urls: perNetwork })
const apps = z.strictObject({
  items: z.array(appView),
  next: z.string().nullable(),
  total: z.int(),
  free: z.int(),
})
const requests = pageSchema(requestEntry)
const csv = z.string()
const requestId = appId.extend({ logId: idText('log') })

/** The routes about apps. */
export const appRoutes: RoutesBelow<'/api/apps'> = {
  'GET /api/apps': {
    summary: 'Lists the apps, oldest first.',
    access: 'read',
    status: 200,
    query: appsQuery,
    response: apps,
  },
  'POST /api/apps': {
    summary: 'Creates an app. The response contains its key.',
    access: 'apps:write',
    status: 201,
    body: createAppBody,
    response: secretApp,
  },
  'GET /api/apps/{appId}': { summary: 'Gets an app.', access: 'read', status: 200, params: appId, response: appView },
  'PATCH /api/apps/{appId}': {
    summary: 'Changes an app, if its version is still the one you read.',
    access: 'apps:write',
    status: 200,
    params: appId,
    body: editAppBody,
    response: appView,
  },
  'POST /api/apps/{appId}/delete': {
    summary: 'Deletes an app with its key and lists. The body must contain its name.',
    access: 'apps:write',
    status: 204,
    params: appId,
    body: deleteAppBody,
  },
  'PUT /api/apps/{appId}/key/expiry': {
    summary: "Sets when an app's key expires.",
    access: 'apps:write',
    status: 200,
    params: appId,
    body: keyExpiryBody,
    response: appView,
  },
  'POST /api/apps/{appId}/key/reveal': {
    summary: "Reveals an app's key and endpoints.",
    access: 'session',
    confirms: true,
    status: 200,
    params: appId,
    body: confirmBody,
    response: appSecret,
  },
  'POST /api/apps/{appId}/key/rotate': {
    summary: "Rotates an app's key. The old key keeps working for the given grace period.",
    access: 'apps:write',
    status: 200,
    params: appId,
    body: rotateBody,
    response: secretApp,
  },
  'DELETE /api/apps/{appId}/key/old': {
    summary: "Ends the grace period of an app's old key.",
    access: 'apps:write',
    status: 200,
    params: appId,
    response: appView,
  },
  'GET /api/apps/{appId}/key/traffic': {
    summary:
      "Gets the requests of the last 24 hours and the last use of an app's key, and of its old key during a grace period.",
    access: 'read',
    status: 200,
    params: appId,
    response: keyTrafficView,
  },
  'GET /api/apps/{appId}/allow-list': {
    summary: "Gets an app's allow list.",
    access: 'read',
    status: 200,
    params: appId,
    query: allowListQuery,
    response: allowListView,
  },
  'GET /api/apps/{appId}/allow-list/preview': {
    summary: 'Gets how many requests of the last 24 hours an allow list would reject with one more entry.',
    access: 'read',
    status: 200,
    params: appId,
    query: allowListPreviewQuery,
    response: allowListPreview,
  },
  'GET /api/apps/{appId}/origins': {
    summary: "Gets the websites that sent requests with an app's key in the last 24 hours.",
    access: 'read',
    status: 200,
    params: appId,
    response: originsView,
  },
  'POST /api/apps/{appId}/allow-list': {
    summary: 'Adds an entry to an allow list.',
    access: 'apps:write',
    status: 201,
    params: appId,
    body: addAllowEntryBody,
    response: allowEntryView,
  },
  'PATCH /api/apps/{appId}/allow-list/{entryId}': {
    summary: "Changes an entry's label.",
    access: 'apps:write',
    status: 200,
    params: entryId,
    body: editAllowEntryBody,
    response: allowEntryView,
  },
  'DELETE /api/apps/{appId}/allow-list/{entryId}': {
    summary: 'Removes an entry from an allow list.',
    access: 'apps:write',
    status: 204,
    params: entryId,
  },
  'GET /api/apps/{appId}/jwt-keys': {
    summary: "Lists an app's JWT keys.",
    access: 'read',
    status: 200,
    params: appId,
    response: jwtKeysView,
  },
  'POST /api/apps/{appId}/jwt-keys': {
    summary: 'Imports a public key. A private key is rejected and not stored.',
    access: 'apps:write',
    status: 201,
    params: appId,
    body: addJwtKeyBody,
    response: jwtKeyView,
  },
  'DELETE /api/apps/{appId}/jwt-keys/{kid}': {
    summary: 'Removes a JWT key. JWTs that it signed are rejected from then on.',
    access: 'apps:write',
    status: 204,
    params: kid,
  },
  'POST /api/apps/{appId}/jwt-keys/test': {
    summary: 'Verifies a JWT like one of a request to the app, and reports the first failed check.',
    access: 'read',
    status: 200,
    params: appId,
    body: testJwtBody,
    response: jwtTestView,
  },
  'GET /api/apps/{appId}/metrics': {
    summary: "Gets an app's metrics.",
    access: 'read',
    status: 200,
    params: appId,
    query: metricsQuery,
    response: metricsView,
  },
  'GET /api/apps/{appId}/metrics.csv': {
    summary: "Gets an app's metrics as CSV.",
    access: 'read',
    status: 200,
    type: 'text/csv',
    params: appId,
    query: metricsCsvQuery,
    response: csv,
  },
  'GET /api/apps/{appId}/usage': {
    summary: "Gets the usage of an app's limits.",
    access: 'read',
    status: 200,
    params: appId,
    response: usageView,
  },
  'GET /api/apps/{appId}/requests': {
    summary: "Lists an app's requests in the log, newest first: failed ones, and a sample of the others.",
    access: 'read',
    status: 200,
    params: appId,
    query: requestsQuery,
    response: requests,
  },
  'GET /api/apps/{appId}/requests.csv': {
    summary: "Gets the newest 10,000 of an app's requests in the log as CSV.",
    access: 'read',
    status: 200,
    type: 'text/csv',
    params: appId,
    query: requestsCsvQuery,
    response: csv,
  },
  'GET /api/apps/{appId}/requests/{logId}': {
    summary:
      "Gets one of an app's requests in the log, with excerpts of its params and response if they were recorded.",
    access: 'read',
    status: 200,
    params: requestId,
    response: requestDetails,
  },
}
