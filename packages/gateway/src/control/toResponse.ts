import type { AnyRoute } from './contract/route.ts'
import type { ApiErrorView } from './contract/apiError.ts'
import type { ApiError, Reply } from './reply.ts'

const errorBody = ({ code, message, fields, retryAfterMs }: ApiError, requestId: string): ApiErrorView => ({
  error: {
    code,
    message,
    ...(fields === undefined ? {} : { fields }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    requestId,
  },
})

/** What stands on every answer: nothing of it is kept by anybody, shown in a frame, or read as something that it is not. */
const headersOf = (
  requestId: string,
  { cookie, strictTransportSecurity }: { cookie?: string | undefined; strictTransportSecurity: string | undefined },
): Headers => {
  const headers = new Headers({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
  })
  if (cookie !== undefined) headers.append('Set-Cookie', cookie)
  if (strictTransportSecurity !== undefined) headers.set('Strict-Transport-Security', strictTransportSecurity)
  return headers
}

/**
 * Writes a reply as an HTTP response.
 * @param options.route - Of an answer: what it is declared as.
 * @param options.now - Milliseconds since 1970.
 * @param options.strictTransportSecurity - The value of `Strict-Transport-Security`, where browsers are to keep to https.
 */
export const toResponse = (
  reply: Reply<unknown>,
  {
    requestId,
    route,
    now,
    strictTransportSecurity,
  }: { requestId: string; route?: AnyRoute; now: number; strictTransportSecurity?: string | undefined },
): Response => {
  const headers = headersOf(requestId, { cookie: reply.cookie, strictTransportSecurity })
  if ('rejection' in reply) {
    const { rejection } = reply
    if (rejection.allow !== undefined) headers.set('Allow', rejection.allow)
    // As a date, like the data plane's: see the README of this package.
    if (rejection.retryAfterMs !== undefined)
      headers.set('Retry-After', new Date(now + rejection.retryAfterMs + 999).toUTCString())
    if (rejection.status === 401) headers.set('WWW-Authenticate', 'Bearer realm="keyrail"')
    headers.set('Content-Type', 'application/json')
    return new Response(JSON.stringify(errorBody(rejection, requestId)), { status: rejection.status, headers })
  }
  const { status = 200, type = 'application/json' } = route ?? {}
  if (status === 204) return new Response(null, { status, headers })
  headers.set('Content-Type', type === 'text/csv' ? 'text/csv; charset=utf-8' : type)
  if (reply.fileName !== undefined) headers.set('Content-Disposition', `attachment; filename="${reply.fileName}"`)
  return new Response(type === 'text/csv' ? String(reply.answer) : (reply.text ?? JSON.stringify(reply.answer)), {
    status,
    headers,
  })
}
