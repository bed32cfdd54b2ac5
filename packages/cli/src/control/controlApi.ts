import type { ControlApi, ApiErrorView } from '@keyrail/gateway'
import { CliError, exitCodes } from '../cliError.ts'
import { toApiError } from './toApiError.ts'

type Part<Name extends keyof ControlApi, Member extends 'params' | 'query' | 'body'> = [
  ControlApi[Name][Member],
] extends [undefined]
  ? { readonly [_ in Member]?: undefined }
  : { readonly [_ in Member]: ControlApi[Name][Member] }

/** What is sent to a route: what its path, query and body hold. */
export type Sent<Name extends keyof ControlApi> = Part<Name, 'params'> & Part<Name, 'query'> & Part<Name, 'body'>

/** Who asks: a personal access token, or the session of somebody who has logged in. A secret. */
export type Credential =
  | { readonly token: string; readonly cookie?: undefined }
  | { readonly cookie: string; readonly token?: undefined }

/** Asks one route of the control API. */
export type ControlApiClient = <Name extends keyof ControlApi>(
  name: Name,
  sent: Sent<Name>,
) => Promise<ControlApi[Name]['answer']>

const timeoutMs = 30_000

/** What an HTTP exchange with the control API came to. */
export interface ControlResponse {
  readonly body: unknown
  /** Of the session, where one was begun. A secret. */
  readonly cookie: string | undefined
}

const noResponse = (origin: string, why: string, hint: string): CliError =>
  new CliError(`no answer from ${origin}: ${why}`, { hint, exitCode: exitCodes.noResponse })

/** The platform says why in the error below: a code such as ECONNREFUSED, which holds nothing. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as { readonly name?: string; readonly cause?: { readonly code?: unknown } }
  if (name === 'TimeoutError') return `it took longer than ${timeoutMs / 1_000} s`
  return typeof cause?.code === 'string' ? cause.code : 'the connection failed'
}

async function readBody(response: Response, origin: string): Promise<unknown> {
  if (response.status === 204) return undefined
  const notOurs = noResponse(
    origin,
    `HTTP ${response.status}, and no JSON`,
    'is this the address of the dashboard? GET /api/deployment of it answers to everybody',
  )
  let text: string
  try {
    text = await response.text()
  } catch (error) {
    throw noResponse(origin, reasonOf(error), 'try again; what was asked may have been done')
  }
  try {
    const body = JSON.parse(text) as unknown
    if (typeof body === 'object' && body !== null) return body
  } catch {
    // What came is nobody's JSON.
  }
  throw notOurs
}

/**
 * Makes one request of the control API.
 *
 * @param origin - Of the service.
 * @param route - Its name, as in `GET /api/keys`, and what is sent.
 * @param credential - Who asks; undefined for what anybody may.
 * @throws {CliError} exit code 1 where the service rejects, with the fix; 3 where no answer came, or none of a control API.
 */
export async function context(
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
  // With a session, a write must say that it comes from the service's own address.
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
    throw noResponse(origin, reasonOf(error), 'is the service there, and is this its address?')
  }
  if (response.status >= 300 && response.status < 400) {
    // Whoever follows it takes the token along to a place that was not named.
    throw noResponse(origin, `it points elsewhere (HTTP ${response.status})`, 'give the address that it points to')
  }
  const answer = await readBody(response, origin)
  if (!response.ok) throw toApiError((answer ?? {}) as Partial<ApiErrorView>, response.status)
  const [cookie] = response.headers.getSetCookie()
  return { body: answer, cookie: cookie?.split(';')[0] }
}

/**
 * Opens the control API of a service for one caller. Typed by the service's own contract.
 *
 * @param origin - Of the service.
 * @param credential - Who asks. It is held by nothing that can be reached from outside.
 */
export function createControlApiClient(origin: string, credential: Credential): ControlApiClient {
  return async <Name extends keyof ControlApi>(name: Name, sent: Sent<Name>) => {
    const { body } = await context(origin, { name, ...sent }, credential)
    return body as ControlApi[Name]['answer']
  }
}
