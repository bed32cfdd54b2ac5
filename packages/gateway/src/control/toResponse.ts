import type { ApiErrorView } from './contract/apiError.ts'
import type { ApiError } from './apiErrors.ts'
import type { HandlerResult, Route } from './route.ts'

const errorBody = ({ code, message, fields, retryAfterMs }: ApiError, requestId: string): ApiErrorView => ({
  error: {
    code,
    message,
    ...(fields === undefined ? {} : { fields }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    requestId,
  },
})

/** The headers of every response: no caching, no framing, no content sniffing. */
const createHeaders = (
  requestId: string,
  {
    cookie,
    strictTransportSecurity,
  }: { cookie?: string | readonly string[] | undefined; strictTransportSecurity: string | undefined },
): Headers => {
  const headers = new Headers({
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
  })
  for (const one of [cookie ?? []].flat()) headers.append('Set-Cookie', one)
  if (strictTransportSecurity !== undefined) headers.set('Strict-Transport-Security', strictTransportSecurity)
  return headers
}

/**
 * Serializes a handler's result as an HTTP response.
 * @param options.route - Gives the status and content type. Left out for errors outside any route.
 * @param options.now - Milliseconds since 1970.
 * @param options.strictTransportSecurity - The value of the `Strict-Transport-Security` header, if it is sent.
 */
export const toResponse = (
  result: HandlerResult<unknown>,
  {
    requestId,
    route,
    now,
    strictTransportSecurity,
  }: { requestId: string; route?: Route; now: number; strictTransportSecurity?: string | undefined },
): Response => {
  const headers = createHeaders(requestId, { cookie: result.cookie, strictTransportSecurity })
  if ('error' in result) {
    const { error } = result
    if (error.allow !== undefined) headers.set('Allow', error.allow)
    // A date, as in the data plane: see this package's README.
    if (error.retryAfterMs !== undefined)
      headers.set('Retry-After', new Date(now + error.retryAfterMs + 999).toUTCString())
    if (error.status === 401) headers.set('WWW-Authenticate', 'Bearer realm="keyrail"')
    headers.set('Content-Type', 'application/json')
    return new Response(JSON.stringify(errorBody(error, requestId)), { status: error.status, headers })
  }
  const { status = 200, type = 'application/json' } = route ?? {}
  if (status === 204) return new Response(null, { status, headers })
  headers.set('Content-Type', type === 'text/csv' ? 'text/csv; charset=utf-8' : type)
  if (result.fileName !== undefined) headers.set('Content-Disposition', `attachment; filename="${result.fileName}"`)
  return new Response(
    type === 'text/csv' ? String(result.response) : (result.text ?? JSON.stringify(result.response)),
    {
      status,
      headers,
    },
  )
}
