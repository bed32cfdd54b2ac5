import type { ControlApi, ApiErrorView } from '@keyrail/gateway'
import { CliError, exitCodes } from '../cliError.ts'
import { toApiError } from './toApiError.ts'

type Part<Name extends keyof ControlApi, Member extends 'params' | 'query' | 'body'> = [
  ControlApi[Name][Member],
] extends [undefined]
  ? { readonly [_ in Member]?: undefined }
  : { readonly [_ in Member]: ControlApi[Name][Member] }

/** The parameters of a route: path, query and body. */
export type RouteParameters<Name extends keyof ControlApi> = Part<Name, 'params'> &
  Part<Name, 'query'> &
  Part<Name, 'body'>

/** A personal access token, or the cookie of a session. A secret. */
export type Credential = (
  | { readonly token: string; readonly cookie?: undefined }
  | { readonly cookie: string; readonly token?: undefined }
) & {
  /** The id of the account to act for. @default that of the token, or the personal one */
  readonly account?: string | undefined
}

/** Calls a route of the control API. */
export type ControlApiClient = <Name extends keyof ControlApi>(
  name: Name,
  parameters: RouteParameters<Name>,
) => Promise<ControlApi[Name]['response']>

const timeoutMs = 30_000

/** A response of the control API. */
export interface ControlResponse {
  readonly body: unknown
  /** The session cookie after a login. A secret. */
  readonly cookie: string | undefined
  /** Whether it is a login that needs a second factor. The cookie is then for `POST /api/session/second-factor`. */
  readonly needsSecondFactor: boolean
}

const createNoResponseError = (origin: string, reason: string, hint: string): CliError =>
  new CliError(`no valid response from ${origin}: ${reason}`, { hint, exitCode: exitCodes.noResponse })

/** Gets the reason from the cause: a code such as ECONNREFUSED, which contains no secret. */
function getReason(error: unknown): string {
  const { name, cause } = error as { readonly name?: string; readonly cause?: { readonly code?: unknown } }
  if (name === 'TimeoutError') return `timeout after ${timeoutMs / 1_000} s`
  return typeof cause?.code === 'string' ? cause.code : 'the connection failed'
}

async function readBody(response: Response, origin: string): Promise<unknown> {
  if (response.status === 204) return undefined
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    throw createNoResponseError(origin, getReason(error), 'check whether the change was made, then try again')
  }
  try {
    const body = JSON.parse(text) as unknown
    if (typeof body === 'object' && body !== null) return body
  } catch {
    // Not JSON.
  }
  throw createNoResponseError(
    origin,
    `HTTP ${response.status} without JSON`,
    'check that this is the URL of the dashboard: GET /api/deployment responds to anyone',
  )
}

/**
 * Sends one request to the control API.
 *
 * @param origin - The origin of the service.
 * @param route - Its name, for example `GET /api/keys`, and its parameters.
 * @param credential - Undefined for public routes.
 * @throws {CliError} exit code 1 if the service rejects the request; 3 without a valid response.
 */
export async function sendRequest(
  origin: string,
  { name, params, query, body }: { name: string; params?: unknown; query?: unknown; body?: unknown },
  credential: Credential | undefined,
): Promise<ControlResponse> {
  const [method = '', path = ''] = name.split(' ')
  const parts = (params ?? {}) as Readonly<Record<string, string>>
  const url = new URL(
    path.replaceAll(/\{(\w+)\}/g, (_, part: string) => encodeURIComponent(parts[part] ?? '')),
    origin,
  )
  for (const [member, value] of Object.entries(query ?? {})) url.searchParams.set(member, String(value))
  const headers: Record<string, string> = { accept: 'application/json' }
  if (method !== 'GET') headers['content-type'] = 'application/json'
  if (credential?.token !== undefined) headers['authorization'] = `Bearer ${credential.token}`
  if (credential?.account !== undefined) headers['x-keyrail-account'] = credential.account
  // With a session, writes require the service's own origin.
  if (credential?.cookie !== undefined) Object.assign(headers, { cookie: credential.cookie, origin })
  let response: Response
  try {
    response = await fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  } catch (error) {
    throw createNoResponseError(origin, getReason(error), 'check that the service is running and that its URL is right')
  }
  if (response.status >= 300 && response.status < 400) {
    // Following a redirect would send the token to another host.
    throw createNoResponseError(origin, `redirect (HTTP ${response.status})`, 'use the URL that it redirects to')
  }
  const responseBody = await readBody(response, origin)
  const error = (responseBody ?? {}) as Partial<ApiErrorView>
  const needsSecondFactor = !response.ok && error.error?.code === 'second_factor_required'
  if (!response.ok && !needsSecondFactor) throw toApiError(error, response.status)
  const [cookie] = response.headers.getSetCookie()
  return { body: responseBody, cookie: cookie?.split(';')[0], needsSecondFactor }
}

/**
 * Creates a client of the control API, typed by the service's own contract.
 *
 * @param origin - The origin of the service.
 * @param credential - The credential. It is only stored in the closure.
 */
export function createControlApiClient(origin: string, credential: Credential): ControlApiClient {
  return async <Name extends keyof ControlApi>(name: Name, parameters: RouteParameters<Name>) => {
    const { body } = await sendRequest(origin, { name, ...parameters }, credential)
    return body as ControlApi[Name]['response']
  }
}
