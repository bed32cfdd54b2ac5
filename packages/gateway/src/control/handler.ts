import type { Viewer } from './account/accounts.ts'
import type { ApiError } from './apiErrors.ts'
import type { ControlApi } from './contract/controlApi.ts'
import type { RouteName } from './contract/route.ts'
import type { ControlOptions } from './controlOptions.ts'

/** The client that sends a request. */
export interface Caller {
  readonly ip: string
  readonly userAgent: string | undefined
  /** The account of the session or access token. `undefined` for anonymous requests and the operator token. */
  readonly viewer: Viewer | undefined
  /** The session's secret, needed to end the session. */
  readonly sessionToken: string | undefined
  /** The secret of the browser's log-in at the OpenID Connect provider. */
  readonly signOnToken: string | undefined
  /** Whether the dashboard is served over HTTPS, which decides the cookie's name and attributes. */
  readonly secure: boolean
}

/** An authorized request with validated input. */
export interface ControlRequest<Name extends RouteName> {
  readonly params: ControlApi[Name]['params']
  readonly query: ControlApi[Name]['query']
  readonly body: ControlApi[Name]['body']
  readonly caller: Caller
}

/** The result of a handler: a response or an error. */
export type HandlerResult<Response> =
  | {
      readonly response: Response
      /** A `Set-Cookie` header, or several. */
      readonly cookie?: string | readonly string[]
      /** The response already serialized as JSON, if it is cached. */
      readonly text?: string
      /** The file name for `Content-Disposition: attachment`. Only a to z, digits, hyphens and dots. */
      readonly fileName?: string
    }
  | { readonly error: ApiError; readonly cookie?: string | readonly string[] }

/** Handles requests to a route. */
export type Handler<Name extends RouteName> = (
  request: ControlRequest<Name>,
) => Promise<HandlerResult<ControlApi[Name]['response']>>

/** The handlers of some routes. */
export type Handlers<Names extends RouteName> = { readonly [Name in Names]: Handler<Name> }

/** The dependencies of handlers. */
export type ControlParts = Required<Omit<ControlOptions, 'log' | 'now'>> & {
  readonly now: () => number
  readonly startedAt: number
}

/**
 * The viewer, on a route that requires one.
 * @throws {Error} if the route's `access` allows anonymous requests.
 */
export const requireViewer = ({ viewer }: Caller): Viewer => {
  if (viewer === undefined) throw new Error('a route whose handler needs a viewer allows anonymous requests')
  return viewer
}

/** The audit log's actor: the id of the access token or user, or `operator`. */
export const getActor = ({ viewer }: Caller): string => viewer?.tokenId ?? viewer?.user.id ?? 'operator'
