import type { Viewer } from './account/accounts.ts'
import type { ControlApi } from './contract/controlApi.ts'
import type { RouteName } from './contract/route.ts'
import type { ControlOptions } from './controlOptions.ts'
import type { Reply } from './reply.ts'

/** Who makes a request. */
export interface Caller {
  readonly ip: string
  readonly userAgent: string | undefined
  /** Who is logged in, or whose token it is. The operator's token has none. */
  readonly viewer: Viewer | undefined
  /** The session's secret, for whoever ends it. */
  readonly sessionToken: string | undefined
  /** How the dashboard is reached: what cookies are made for. */
  readonly secure: boolean
}

/** A request that was let in, and read. */
export interface ControlRequest<Name extends RouteName> {
  readonly params: ControlApi[Name]['params']
  readonly query: ControlApi[Name]['query']
  readonly body: ControlApi[Name]['body']
  readonly caller: Caller
}

/** Does what a route is for. */
export type Handler<Name extends RouteName> = (
  request: ControlRequest<Name>,
) => Promise<Reply<ControlApi[Name]['answer']>>

/** The handlers of some routes. */
export type Handlers<Names extends RouteName> = { readonly [Name in Names]: Handler<Name> }

/** What handlers work with. */
export type ControlParts = Required<Omit<ControlOptions, 'log' | 'now'>> & {
  readonly now: () => number
  readonly startedAt: number
}

/**
 * Whoever is logged in, at a route that lets in nobody else.
 * @throws {Error} where a route is misdeclared.
 */
export const viewerOf = ({ viewer }: Caller): Viewer => {
  if (viewer === undefined) throw new Error('a route that asks who is logged in lets in who is not')
  return viewer
}

/** Who it was, for the audit log: a token by its own id. */
export const actorOf = ({ viewer }: Caller): string => viewer?.tokenId ?? viewer?.user.id ?? 'operator'
