import type { z } from 'zod'
import type { TokenScope } from './accessToken.ts'
import type { ControlApi } from './controlApi.ts'

/** A route's name: its method and its path. */
export type RouteName = keyof ControlApi

/**
 * Who may use a route. `anyone`: without being logged in. `session`: a person in a browser, and no token. A scope: a session, or a token
 * that has it. `operator`: a session of an operator, or the operator's token.
 */
export type Who = 'anyone' | 'session' | 'operator' | TokenScope

type Given<Name extends RouteName, Member extends keyof ControlApi[RouteName]> = [ControlApi[Name][Member]] extends [
  undefined,
]
  ? { readonly [_ in Member]?: undefined }
  : { readonly [_ in Member]: z.ZodType<ControlApi[Name][Member], unknown> }

/** What is known of any route. */
export interface RouteFacts {
  /** One sentence, for the document. */
  readonly summary: string
  readonly who: Who
  /** The status of its answer. Without one that is 204. */
  readonly status: 200 | 201 | 204
  /** Whether a session that is older than 15 minutes must give the password, as `password` of its body. @default false */
  readonly confirms?: true
  /** What its answer is. @default 'application/json' */
  readonly type?: 'text/csv'
}

/** A route of the control API, as data. */
export type Route<Name extends RouteName> = RouteFacts &
  Given<Name, 'params'> &
  Given<Name, 'query'> &
  Given<Name, 'body'> &
  Given<Name, 'answer'>

/** Any route, for whoever goes through the table. */
export interface AnyRoute extends RouteFacts {
  readonly params?: z.ZodType | undefined
  readonly query?: z.ZodType | undefined
  readonly body?: z.ZodType | undefined
  readonly answer?: z.ZodType | undefined
}
