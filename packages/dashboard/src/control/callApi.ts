import type { ControlApi, ApiErrorView } from '@keyrail/gateway'
import { chooseAccount, getAccountHeader } from './chosenAccount.ts'
import { ControlFailure } from './controlFailure.ts'
import { loseSession } from './lostSession.ts'
import { endPreloads, toReadUrl } from './preloaded.ts'
import { noteReachable } from './reachable.ts'

type Member = 'params' | 'query' | 'body'

/** The input of a route: its path parameters, query and body. */
export type RouteInput<Name extends keyof ControlApi> = {
  readonly [Key in Member as ControlApi[Name][Key] extends undefined ? never : Key]: ControlApi[Name][Key]
}

/** The arguments of `callApi`: the input is optional if the route has none that is required. */
type Arguments<Name extends keyof ControlApi> =
  {} extends RouteInput<Name>
    ? [name: Name, input?: undefined, signal?: AbortSignal]
    : [name: Name, input: RouteInput<Name>, signal?: AbortSignal]

interface AnyInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
}

/** Builds the path and query of a route. */
export function toPath<Name extends keyof ControlApi>(name: Name, input?: RouteInput<Name>): string {
  const { params = {}, query = {} } = (input ?? {}) as AnyInput
  const path = name
    .slice(name.indexOf(' ') + 1)
    .replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? ''))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
  )
  return search.size > 0 ? `${path}?${search}` : path
}

/** How long a response may take, in milliseconds. */
const timeoutMs = 10_000

/** Aborts when the caller aborts, or when the response takes too long. */
function startTimeout(signal: AbortSignal | undefined): {
  readonly signal: AbortSignal
  readonly isOver: () => boolean
  readonly stop: () => void
} {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), timeoutMs)
  return {
    signal: signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]),
    isOver: () => controller.signal.aborted,
    stop: () => clearTimeout(timer),
  }
}

/**
 * Calls a route of the control API.
 * @returns The route's response.
 * @throws {ControlFailure} with the API's error code, `unreachable`, or `timeout` after 10 s. If the signal aborts, its reason.
 */
export async function callApi<Name extends keyof ControlApi>(
  ...[name, input, signal]: Arguments<Name>
): Promise<ControlApi[Name]['response']> {
  const method = name.slice(0, name.indexOf(' '))
  const { body } = (input ?? {}) as AnyInput
  let response: Response
  let text: string
  const timeout = startTimeout(signal)
  const path = toPath(name, input as RouteInput<Name>)
  if (method !== 'GET') endPreloads()
  try {
    response = await fetch(method === 'GET' ? toReadUrl(path) : path, {
      method,
      credentials: 'same-origin',
      redirect: 'error',
      headers: { ...getAccountHeader(), ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) },
      ...(method !== 'GET' && body !== undefined && { body: JSON.stringify(body) }),
      signal: timeout.signal,
    })
    text = await response.text()
  } catch (error) {
    if (signal?.aborted) throw error
    noteReachable(false)
    if (timeout.isOver())
      throw new ControlFailure(
        method === 'GET'
          ? 'The service did not respond within 10 s.'
          : 'The service did not respond within 10 s. It may have made the change: check before you try again.',
        { code: 'timeout', status: 0 },
      )
    throw new ControlFailure('The service does not respond.', { code: 'unreachable', status: 0 })
  } finally {
    timeout.stop()
  }
  noteReachable(true)
  const parsed = parse(text)
  if (response.ok) return parsed as ControlApi[Name]['response']
  if (response.status === 401) endPreloads()
  const { error } = (parsed ?? {}) as Partial<ApiErrorView>
  if (error?.code === 'unknown_account') {
    // The user left the team, or another user has logged in. The pages are loaded again, so nobody waits for this.
    chooseAccount(undefined)
    return new Promise(() => {})
  }
  // This route checks for a session, so its caller handles the error.
  if (error?.code === 'not_logged_in' && name !== 'GET /api/session') loseSession()
  throw new ControlFailure(error?.message ?? `The service responded with status ${response.status}.`, {
    code: error?.code ?? 'unknown',
    status: response.status,
    fields: error?.fields,
    retryAfterMs: error?.retryAfterMs,
    requestId: error?.requestId,
  })
}

function parse(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
