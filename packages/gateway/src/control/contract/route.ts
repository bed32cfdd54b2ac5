import type { z } from 'zod'
import type { TokenScope } from './accessToken.ts'
import type { ControlApi } from './controlApi.ts'

/** A route's name: its method and its path. */
export type RouteName = keyof ControlApi

/**
 * Who may use a route. `anyone`: no authentication. `session`: a browser session, not an access token. A scope: a session, or an access
 * token with that scope. `operator`: a session of an operator, or the operator token.
 */
export type RouteAccess = 'anyone' | 'session' | 'operator' | TokenScope

type RoutePart<Name extends RouteName, Member extends keyof ControlApi[RouteName]> = [
  ControlApi[Name][Member],
] extends [undefined]
  ? { readonly [_ in Member]?: undefined }
  : { readonly [_ in Member]: z.ZodType<ControlApi[Name][Member], unknown> }

/** The facts common to all routes. */
export interface RouteInfo {
  /** One sentence for the OpenAPI document. */
  readonly summary: string
  readonly access: RouteAccess
  /** The status of a successful response; 204 if it has no body. */
  readonly status: 200 | 201 | 204
  /** Whether a session older than 15 minutes must send the password, as `password` of the body. @default false */
  readonly confirms?: true
  /** The content type of the response. @default 'application/json' */
  readonly type?: 'text/csv'
}

/** A route of the control API. */
export type Route<Name extends RouteName> = RouteInfo &
  RoutePart<Name, 'params'> &
  RoutePart<Name, 'query'> &
  RoutePart<Name, 'body'> &
  RoutePart<Name, 'response'>

/** The routes whose paths start with one of the given ones. A table of this type lacks none of them. */
export type RoutesBelow<Path extends string> = {
  readonly [Name in Extract<RouteName, `${string} ${Path}${string}`>]: Route<Name>
}

/** A route of any name, for code that iterates over the table. */
export interface AnyRoute extends RouteInfo {
  readonly params?: z.ZodType | undefined
  readonly query?: z.ZodType | undefined
  readonly body?: z.ZodType | undefined
  readonly response?: z.ZodType | undefined
}
