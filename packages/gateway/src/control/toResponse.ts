import type { AnyRoute } from './contract/route.ts'
import type { ControlRefusalView } from './contract/apiError.ts'
import type { ControlRefusal, Reply } from './reply.ts'

const refusalBody = (
  { code, message, fields, retryAfterMs }: ControlRefusal,
  requestId: string,
): ControlRefusalView => ({
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
  { cookie, keepTo }: { cookie?: string | undefined; keepTo: string | undefined },
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
  if (keepTo !== undefined) headers.set('Strict-Transport-Security', keepTo)
  return headers
}

/**
 * Writes a reply as an HTTP response.
 * @param options.route - Of an answer: what it is declared as.
 * @param options.now - Milliseconds since 1970.
 * @param options.keepTo - The value of `Strict-Transport-Security`, where browsers are to keep to https.
 */
export const toResponse = (
  reply: Reply<unknown>,
  { requestId, route, now, keepTo }: { requestId: string; route?: AnyRoute; now: number; keepTo?: string | undefined },
): Response => {
  const headers = headersOf(requestId, { cookie: reply.cookie, keepTo })
  if ('refusal' in reply) {
    const { refusal } = reply
    if (refusal.allow !== undefined) headers.set('Allow', refusal.allow)
    // As a date, like the data plane's: see the README of this package.
    if (refusal.retryAfterMs !== undefined)
      headers.set('Retry-After', new Date(now + refusal.retryAfterMs + 999).toUTCString())
    if (refusal.status === 401) headers.set('WWW-Authenticate', 'Bearer realm="keyrail"')
    headers.set('Content-Type', 'application/json')
    return new Response(JSON.stringify(refusalBody(refusal, requestId)), { status: refusal.status, headers })
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
