import type { ControlApi, ApiErrorView } from '@keyrail/gateway'
import { ControlFailure } from './controlFailure.ts'
import { loseSession } from './lostSession.ts'
import { noteReachable } from './reachable.ts'

type Member = 'params' | 'query' | 'body'

/** What a route of the control API is to be given: what its contract names, and nothing else. */
export type Given<Name extends keyof ControlApi> = {
  readonly [Key in Member as ControlApi[Name][Key] extends undefined ? never : Key]: ControlApi[Name][Key]
}

/** The routes that need something to be given. */
type Arguments<Name extends keyof ControlApi> =
  {} extends Given<Name>
    ? [name: Name, given?: undefined, signal?: AbortSignal]
    : [name: Name, given: Given<Name>, signal?: AbortSignal]

interface AnyGiven {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
}

/** The address of a route on this service: its path with what stands in it, and its query. */
export function pathOf<Name extends keyof ControlApi>(name: Name, given?: Given<Name>): string {
  const { params = {}, query = {} } = (given ?? {}) as AnyGiven
  const path = name
    .slice(name.indexOf(' ') + 1)
    .replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(params[key] ?? ''))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])),
  )
  return search.size > 0 ? `${path}?${search}` : path
}

/**
 * Asks the control API.
 * @returns What the route's contract says it answers.
 * @throws {ControlFailure} with the API's own code, or `unreachable`; the signal's reason where the caller gave up.
 */
export async function ask<Name extends keyof ControlApi>(
  ...[name, given, signal]: Arguments<Name>
): Promise<ControlApi[Name]['answer']> {
  const method = name.slice(0, name.indexOf(' '))
  const { body } = (given ?? {}) as AnyGiven
  let response: Response
  let text: string
  try {
    response = await fetch(pathOf(name, given as Given<Name>), {
      method,
      credentials: 'same-origin',
      redirect: 'error',
      headers: method === 'GET' ? {} : { 'content-type': 'application/json' },
      ...(method !== 'GET' && body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    text = await response.text()
  } catch (error) {
    if (signal?.aborted) throw error
    noteReachable(false)
    throw new ControlFailure('The service does not answer.', { code: 'unreachable', status: 0 })
  }
  noteReachable(true)
  const answer = parse(text)
  if (response.ok) return answer as ControlApi[Name]['answer']
  const { error } = (answer ?? {}) as Partial<ApiErrorView>
  // Who asks whether there is a session wants to know, and goes on itself.
  if (error?.code === 'not_logged_in' && name !== 'GET /api/session') loseSession()
  throw new ControlFailure(error?.message ?? `The service answered with status ${response.status}.`, {
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
