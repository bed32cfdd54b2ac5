import { z } from 'zod'
import type { Viewer } from './account/viewer.ts'
import type { ActingAccount } from './account/actingAccount.ts'
import type { ApiError } from './apiErrors.ts'
import { idText } from './contract/texts.ts'
import type { ControlOptions } from './controlOptions.ts'
import type { Registries } from './publishedPackages.ts'
import type { Scope } from './roles.ts'

/** The client that sends a request. */
export interface Caller {
  readonly ip: string
  readonly userAgent: string | undefined
  /** The user of the session or access token. `undefined` for anonymous requests and the operator token. */
  readonly viewer: Viewer | undefined
  /** The account that the request acts for, on a route whose access is a scope. */
  readonly account: ActingAccount | undefined
  /** The scope of that route, which the caller's role in the account has. */
  readonly scope: Scope | undefined
  /** The session's secret, needed to end the session. */
  readonly sessionToken: string | undefined
  /** The secret of the browser's log-in at the OpenID Connect provider. */
  readonly signOnToken: string | undefined
  /** The secret of the browser's log-in that needs a second factor or a passkey. */
  readonly logInToken: string | undefined
  /** The origin of the dashboard, as the request names it. */
  readonly site: string
  /** Whether the dashboard is served over HTTPS, which decides the cookie's name and attributes. */
  readonly secure: boolean
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

/** The dependencies of handlers. */
export type ControlParts = Required<Omit<ControlOptions, 'log' | 'now'>> & {
  readonly now: () => number
  readonly startedAt: number
  /** The OpenAPI document, also as JSON. */
  readonly getDocument: (publicUrl: string) => {
    readonly response: Readonly<Record<string, unknown>>
    readonly text: string
  }
  /** Finds out which of Keyrail's packages are published. */
  readonly getPublishedPackages: (registries: Registries) => Promise<readonly string[]>
}

/**
 * Who may use a route. `anyone`: no authentication. `session`: a user with a browser session, about the user. `operator`: a session of an operator,
 * or the operator token. A scope: a member of the account that the request acts for, whose role has the scope, with a session or an access token
 * that has the scope too.
 */
export type RouteAccess = 'anyone' | 'session' | 'operator' | Scope

/** The parameters of paths. A value that does not match its schema is the id of nothing: 404. */
const pathParams = {
  appId: idText('app'),
  entryId: idText('alw'),
  factorId: idText('fac'),
  inviteId: idText('inv'),
  keyId: idText('key'),
  kid: z.string().regex(/^[\w-]{1,64}$/),
  logId: idText('log'),
  sessionId: idText('ses'),
  tokenId: idText('tok'),
  accountId: idText('acc'),
  userId: idText('usr'),
  webhookId: idText('whk'),
}
type PathParam = keyof typeof pathParams

type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never

/** The facts about a route that its name does not say. */
interface RouteFacts<Query, Body, Response> {
  /** One sentence. */
  readonly summary: string
  /** What the summary leaves out. */
  readonly description?: string
  readonly access: RouteAccess
  /** The status of a successful response. @default 200, or 204 without a body */
  readonly status?: 201
  /**
   * Whether a session older than 15 minutes must send the password, as `password` of the body. An account with a second factor must have proved it
   * in the last 10 minutes instead. `'factor'`: only the latter, because the handler always requires the password. An access token that has the scope
   * needs neither: its creation was confirmed. @default false
   */
  readonly confirms?: true | 'factor'
  /** Whether an account may use it that lacks a second factor, which the config or the team requires. @default false */
  readonly withoutFactor?: true
  /** Whether it also works for an account that an operator has disabled. @default false */
  readonly whenDisabled?: true
  /** Whether it is one of the most expensive reads, for which each account has a queue of its own. @default false */
  readonly isExpensive?: true
  /** The content type of the response. @default 'application/json' */
  readonly type?: 'text/csv'
  readonly query?: Query
  readonly body?: Body
  readonly response?: Response
}

type Schema = z.ZodType | undefined
type Frozen<Type> = Type extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : Type extends object
    ? { readonly [Name in keyof Type]: Frozen<Type[Name]> }
    : Type
type Shape<Given extends Schema> = Given extends z.ZodType ? Frozen<z.output<Given>> : undefined

/** An authorized request with validated input. */
interface ControlRequest<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly caller: Caller
}

/** A route of the control API. */
export interface Route extends Omit<RouteFacts<z.ZodType, z.ZodType, z.ZodType>, 'status'> {
  /** Its method and its path. */
  readonly name: string
  readonly status: 200 | 201 | 204
  readonly params: z.ZodType | undefined
  readonly handle: (
    request: ControlRequest<unknown, unknown, unknown>,
    parts: ControlParts,
  ) => Promise<HandlerResult<unknown>>
}

/**
 * Declares a route: the types of its handler are those of its schemas.
 * @param name - Its method and its path, such as `GET /api/apps/{appId}`.
 */
export const route = <
  const Name extends string,
  Query extends Schema = undefined,
  Body extends Schema = undefined,
  Response extends Schema = undefined,
>(
  name: Name,
  facts: RouteFacts<Query, Body, Response>,
  handle: (
    request: ControlRequest<{ readonly [_ in ParamNames<Name>]: string }, Shape<Query>, Shape<Body>>,
    parts: ControlParts,
  ) => Promise<HandlerResult<Shape<Response>>>,
): Route => {
  const names = [...name.matchAll(/\{(\w+)\}/g)].map(([, param]) => param as PathParam)
  return {
    status: facts.response === undefined ? 204 : 200,
    ...facts,
    name,
    params:
      names.length === 0 ? undefined : z.strictObject(Object.fromEntries(names.map((one) => [one, pathParams[one]]))),
    // Its schemas have validated what it gets.
    handle: handle as Route['handle'],
  } as Route
}

/**
 * The viewer, on a route that requires one.
 * @throws {Error} if the route's `access` allows anonymous requests.
 */
export const requireViewer = ({ viewer }: Caller): Viewer => {
  if (viewer === undefined) throw new Error('a route whose handler needs a viewer allows anonymous requests')
  return viewer
}

/**
 * The account that a request acts for, on a route whose access is a scope.
 * @throws {Error} if the route's `access` is none.
 */
export const requireAccount = ({ account }: Caller): ActingAccount => {
  if (account === undefined) throw new Error('a route whose handler needs an account has no scope as its access')
  return account
}

/** The id of that account, to which all data belongs. */
export const requireAccountId = (caller: Caller): string => requireAccount(caller).id

/** The audit log's actor: the id of the access token or user, or `operator`. */
export const getActor = ({ viewer }: Caller): string => viewer?.tokenId ?? viewer?.user.id ?? 'operator'
