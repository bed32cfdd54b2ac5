import { z } from 'zod'
import { confirmBody } from '../account.ts'
import { keyTrafficView } from '../activity.ts'
import { originsView } from '../allowEntry.ts'
import { apiKeySecret, apiKeysView, apiKeyView, createApiKeyBody, editApiKeyBody } from '../apiKey.ts'
import { rotateBody } from '../keyState.ts'
import { metricsCsvQuery, metricsQuery, metricsView } from '../metrics.ts'
import { pageSchema } from '../page.ts'
import { requestDetails, requestEntry, requestsCsvQuery, requestsQuery } from '../requestLog.ts'
import { idText } from '../texts.ts'
import type { RoutesBelow } from '../route.ts'

const keyId = z.strictObject({ keyId: idText('key') })
const secretKey = z.strictObject({ key: apiKeyView, apiKey: z.string(), url: z.string() })
const requests = pageSchema(requestEntry)
const csv = z.string()
const requestId = keyId.extend({ logId: idText('log') })

/** The routes about API keys. */
export const keyRoutes: RoutesBelow<'/api/keys'> = {
  'GET /api/keys': {
    summary: 'Lists the API keys that are not revoked, oldest first.',
    access: 'read',
    status: 200,
    response: apiKeysView,
  },
  'POST /api/keys': {
    summary: 'Creates an API key. The response contains it.',
    access: 'keys:write',
    status: 201,
    body: createApiKeyBody,
    response: secretKey,
  },
  'GET /api/keys/{keyId}': {
    summary: 'Gets an API key.',
    access: 'read',
    status: 200,
    params: keyId,
    response: apiKeyView,
  },
  'PATCH /api/keys/{keyId}': {
    summary: 'Changes an API key, if its version is still the one you read.',
    access: 'keys:write',
    status: 200,
    params: keyId,
    body: editApiKeyBody,
    response: apiKeyView,
  },
  'POST /api/keys/{keyId}/reveal': {
    summary: 'Reveals an API key and its endpoint.',
    access: 'session',
    confirms: true,
    status: 200,
    params: keyId,
    body: confirmBody,
    response: apiKeySecret,
  },
  'POST /api/keys/{keyId}/rotate': {
    summary: 'Rotates an API key. The old key keeps working for the given grace period.',
    access: 'keys:write',
    status: 200,
    params: keyId,
    body: rotateBody,
    response: secretKey,
  },
  'DELETE /api/keys/{keyId}/old': {
    summary: 'Ends the grace period of the old key.',
    access: 'keys:write',
    status: 200,
    params: keyId,
    response: apiKeyView,
  },
  'GET /api/keys/{keyId}/origins': {
    summary: 'Gets the websites that sent requests with an API key in the last 24 hours.',
    access: 'read',
    status: 200,
    params: keyId,
    response: originsView,
  },
  'GET /api/keys/{keyId}/traffic': {
    summary:
      'Gets the requests of the last 24 hours and the last use of an API key, and of the old key during a grace period.',
    access: 'read',
    status: 200,
    params: keyId,
    response: keyTrafficView,
  },
  'POST /api/keys/{keyId}/revoke': {
    summary: 'Revokes an API key permanently. It no longer counts toward the maximum.',
    access: 'keys:write',
    status: 200,
    params: keyId,
    response: apiKeyView,
  },
  'GET /api/keys/{keyId}/metrics': {
    summary: "Gets an API key's metrics.",
    access: 'read',
    status: 200,
    params: keyId,
    query: metricsQuery,
    response: metricsView,
  },
  'GET /api/keys/{keyId}/metrics.csv': {
    summary: "Gets an API key's metrics as CSV.",
    access: 'read',
    status: 200,
    type: 'text/csv',
    params: keyId,
    query: metricsCsvQuery,
    response: csv,
  },
  'GET /api/keys/{keyId}/requests': {
    summary: "Lists an API key's requests in the log, newest first: failed ones, and a sample of the others.",
    access: 'read',
    status: 200,
    params: keyId,
    query: requestsQuery,
    response: requests,
  },
  'GET /api/keys/{keyId}/requests.csv': {
    summary: "Gets the newest 10,000 of an API key's requests in the log as CSV.",
    access: 'read',
    status: 200,
    type: 'text/csv',
    params: keyId,
    query: requestsCsvQuery,
    response: csv,
  },
  'GET /api/keys/{keyId}/requests/{logId}': {
    summary:
      "Gets one of an API key's requests in the log, with excerpts of its params and response if they were recorded.",
    access: 'read',
    status: 200,
    params: requestId,
    response: requestDetails,
  },
}
