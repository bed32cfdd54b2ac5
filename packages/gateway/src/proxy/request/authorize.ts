import type { AllowList } from '../../auth/allowList/compileAllowList.ts'
import { parseJwt, parseKid } from '../../auth/jwt/parseJwt.ts'
import { parseBearer } from '../../lib/parseBearer.ts'
import { toJwtRejection } from '../../auth/jwt/verifyJwt.ts'
import type { JwtResult } from '../../auth/jwt/verifyJwt.ts'
import type { FoundKey, KeyRecord } from '../../auth/key/keyStore.ts'
import { rejectKey } from '../../auth/key/rejectKey.ts'
import { toTenant } from '../../auth/key/tenant.ts'
import type { Tenant } from '../../auth/key/tenant.ts'
import { mayUseTestKey, parseTestKey, toTestTenant } from '../../auth/key/testKeys.ts'
import { describeFault } from '../../errors/faultLog.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { rejections } from '../../errors/rejections.ts'
import { isApiKey } from '../../lib/secrets/apiKey.ts'
import { hashApiKey } from '../../lib/secrets/hashApiKey.ts'
import type { CallPath } from '../http/parsePath.ts'
import type { Network } from '../../lib/network.ts'
import type { GatewayContext } from './gatewayContext.ts'
import type { NetworkContext } from './networkContext.ts'
import type { AuthorizedRequest, Caller, RequestContext } from './requestContext.ts'

/** Continues with the result of the checks: an authorized request, or why it is rejected. */
export type AuthorizeDone = (result: AuthorizedRequest | Rejection) => void

/**
 * Checks who calls, before any of the body is stored. A path without a key, `/{network}/v2`, is for tokens: the `kid` of the token identifies
 * the app.
 * @param done - Called once: in the same tick if the key store has the record in memory.
 */
export const authorize = (
  gateway: GatewayContext,
  context: RequestContext,
  path: CallPath,
  done: AuthorizeDone,
): void => {
  context.facts.network = path.network
  const request: PendingRequest = { context, path, done }
  if (path.key === undefined) {
    authorizeToken(gateway, request)
    return
  }
  const credential = getKeyCredential(path)
  if (credential !== undefined) findRecord(gateway, request, credential)
  else done(authorizeTestKey(gateway, request) ?? rejectUnknownKey(gateway, context))
}

/** A request that is being checked. */
interface PendingRequest {
  readonly context: RequestContext
  readonly path: CallPath
  readonly done: AuthorizeDone
}

/** How a request identifies its key or its app. */
export interface Credential {
  readonly by: 'hash' | 'kid'
  readonly text: string
  /** The token whose `kid` it is. */
  readonly token: string | undefined
}

const keyCredentials = new WeakMap<CallPath, Credential>()

/** The hash of a path's key, computed once per path; `undefined` if its form or its checksum is wrong. */
export const getKeyCredential = (path: CallPath): Credential | undefined => {
  const known = keyCredentials.get(path)
  if (known !== undefined) return known
  if (path.key === undefined || !isApiKey(path.key)) return undefined
  const credential: Credential = { by: 'hash', text: hashApiKey(path.key), token: undefined }
  keyCredentials.set(path, credential)
  return credential
}

/** Looks the record up, and continues with it: in the same tick if the store has it in memory. */
const findRecord = (gateway: GatewayContext, request: PendingRequest, credential: Credential): void => {
  const { keys, lookUps } = gateway.auth
  const { by, text } = credential
  if (keys.isCached(text, by)) {
    lookUp(gateway, request, credential)
    return
  }
  const { context, done } = request
  const cancel = lookUps.enter(getClientIp(gateway, context.caller), (decision) => {
    context.cancel = undefined
    if (decision.kind === 'limited') {
      const { retryAfterMs } = decision
      done(rejections.keyUnknownLimited({ retryAfterMs, nowMs: gateway.now() }))
    } else if (decision.kind === 'unavailable') done(rejections.keyStoreUnavailable())
    else lookUp(gateway, { ...request, done: leaveFirst(decision.leave, done) }, credential)
  })
  // A caller that has disconnected takes no place in the queue, and its key is not looked up.
  if (cancel !== undefined)
    context.cancel = (stopped) => {
      cancel()
      stopped()
    }
}

const leaveFirst =
  (leave: (isFailed: boolean) => void, done: AuthorizeDone): AuthorizeDone =>
  (result) => {
    leave('reason' in result && result.reason === 'key_store_unavailable')
    done(result)
  }

const lookUp = (gateway: GatewayContext, request: PendingRequest, credential: Credential): void => {
  const { keys } = gateway.auth
  const { by, text } = credential
  let found: FoundKey
  try {
    found = by === 'hash' ? keys.find(text) : keys.findByKid(text)
  } catch (error) {
    rejectUnavailable(gateway, request, error)
    return
  }
  if (found instanceof Promise)
    found.then(
      (record) => checkFound(gateway, request, { credential, record }),
      (error: unknown) => rejectUnavailable(gateway, request, error),
    )
  else checkFound(gateway, request, { credential, record: found })
}

const checkFound = (
  gateway: GatewayContext,
  request: PendingRequest,
  { credential, record }: { credential: Credential; record: KeyRecord | undefined },
): void => {
  const { context, path, done } = request
  if (credential.token !== undefined)
    done(checkTokenRecord(gateway, context, { path, token: credential.token, record }))
  else if (record) done(checkRecord(gateway, context, { path, record, verified: undefined }))
  else done(rejectUnknownKey(gateway, context))
}

interface FoundRecord {
  readonly path: CallPath
  readonly record: KeyRecord
  /** The token, if it has been verified already, because it identified the app. */
  readonly verified: JwtResult | undefined
}

/** Checks 3 and 4 of the contract, in their order: see `handleRequest`. */
const checkRecord = (
  gateway: GatewayContext,
  context: RequestContext,
  { path, record, verified }: FoundRecord,
): AuthorizedRequest | Rejection => {
  const tenant = setTenant(gateway, context, record)
  const early = rejectKey(record, path, gateway.now()) ?? checkAllowList(gateway, context, record.allow)
  if (early !== undefined) return early
  const token = verified ?? verifySentToken(gateway, context, record)
  const tokenAllowList = getTokenAllowList(token)
  const rejection =
    (token && toTokenRejection(token)) ?? checkAllowList(gateway, context, tokenAllowList) ?? checkServices(record)
  return rejection ?? { context, tenant, network: getNetwork(gateway, path.network), tokenAllowList }
}

const setTenant = ({ networks }: GatewayContext, { facts }: RequestContext, record: KeyRecord): Tenant => {
  const tenant = toTenant(record)
  facts.tenant = tenant
  const { network } = facts
  if (network !== undefined && record.networks.includes(network)) facts.chainId = networks.get(network)?.group.chainId
  return tenant
}

/** The path of a request names a network of the same context. */
const getNetwork = ({ networks }: GatewayContext, name: Network): NetworkContext => {
  const network = networks.get(name)
  if (network === undefined) throw new TypeError('the network of a request must be one of its gateway')
  return network
}

const checkAllowList = (
  gateway: GatewayContext,
  context: RequestContext,
  allow: AllowList | undefined,
): Rejection | undefined => {
  if (allow === undefined) return undefined
  const { origin, 'user-agent': userAgent } = context.caller.headers
  return allow.rejectRequest({ ip: getClientIp(gateway, context.caller), origin, userAgent })
}

/** A token that is sent must be valid, also if the app does not require one. Apps without JWT keys ignore tokens. */
const verifySentToken = (
  gateway: GatewayContext,
  context: RequestContext,
  record: KeyRecord,
): JwtResult | Rejection | undefined => {
  if (record.jwt === undefined) return undefined
  const token = parseBearer(context.caller.headers.authorization)
  return token === undefined && !record.jwt.required ? undefined : verifyToken(gateway, context, { token, record })
}

/**
 * Verifies a token for an app.
 * @returns A rejection if too many tokens with wrong signatures came from this IP; `undefined` if the app has no JWT keys.
 */
const verifyToken = (
  gateway: GatewayContext,
  context: RequestContext,
  { token, record }: { token: string | undefined; record: KeyRecord },
): JwtResult | Rejection | undefined => {
  if (record.jwt === undefined) return undefined
  const { jwtCache, unknownKeys } = gateway.auth
  const app = { id: record.appId ?? record.id, version: record.version ?? 0, jwt: record.jwt.policy }
  if (token === undefined) return jwtCache.verify(token, app)
  const cached = jwtCache.find(token, app)
  if (cached !== undefined) return cached
  const limited = limitSignatures(gateway, context, app.id)
  if (limited !== undefined) return limited
  const result = jwtCache.verify(token, app)
  if (!result.ok && result.check === 'signature')
    unknownKeys.take(getClientIp(gateway, context.caller), { app: app.id })
  return result
}

const toTokenRejection = (token: JwtResult | Rejection): Rejection | undefined =>
  'reason' in token ? token : toJwtRejection(token)

const getTokenAllowList = (token: JwtResult | Rejection | undefined): AllowList | undefined =>
  token !== undefined && 'ok' in token && token.ok ? token.allow : undefined

const service = 'Node API'

const checkServices = ({ services }: KeyRecord): Rejection | undefined =>
  services === undefined || services.includes(service) ? undefined : rejections.serviceOff()

const authorizeToken = (gateway: GatewayContext, request: PendingRequest): void => {
  const { context, done } = request
  const token = parseBearer(context.caller.headers.authorization)
  if (token === undefined) {
    done(rejectUnknownKey(gateway, context))
    return
  }
  const kid = parseKid(token)
  if (kid === undefined) {
    const malformed = parseJwt(token) === undefined
    const rejection = malformed
      ? rejections.jwtInvalid('malformed', 'malformed')
      : rejections.jwtInvalid('kid', 'no kid')
    done(rejectUnknownKey(gateway, context, rejection))
    return
  }
  findRecord(gateway, request, { by: 'kid', text: kid, token })
}

/** Checks that fail before the signature has been verified. Anyone can cause these failures, so the response must not reveal the app. */
const beforeSignature: ReadonlySet<string> = new Set([
  'missing',
  'malformed',
  'header',
  'kid',
  'algorithm',
  'signature',
])

/** Checks an app that was found by its token. The token comes first: the response reveals nothing about the app until the signature is valid. */
const checkTokenRecord = (
  gateway: GatewayContext,
  context: RequestContext,
  { path, token, record }: { path: CallPath; token: string; record: KeyRecord | undefined },
): AuthorizedRequest | Rejection => {
  const verified = record ? verifyToken(gateway, context, { token, record }) : undefined
  if (!record || verified === undefined)
    return rejectUnknownKey(gateway, context, rejections.jwtInvalid('kid', 'unknown kid'))
  if ('reason' in verified) return verified
  const rejection = toJwtRejection(verified)
  if (rejection === undefined) return checkRecord(gateway, context, { path, record, verified })
  if (!verified.ok && beforeSignature.has(verified.check)) return rejectUnknownKey(gateway, context, rejection)
  setTenant(gateway, context, record)
  return rejection
}

/** @returns `undefined` if the path has no test key, or if test keys do not work here. */
const authorizeTestKey = (
  gateway: GatewayContext,
  { context, path }: PendingRequest,
): AuthorizedRequest | Rejection | undefined => {
  const { testKeys } = gateway.auth
  const testKey = parseTestKey(path.key ?? '')
  if (testKeys === undefined || testKey === undefined) return undefined
  const tenant = toTestTenant(testKey, path.variant)
  if (testKey === '401' || tenant === undefined) return rejections.keyUnknown()
  context.facts.tenant = tenant
  // Everybody knows test keys: without this, any page that a developer visits could read through them.
  if (!mayUseTestKey(context.caller.headers.origin, testKeys.origin)) return rejections.originNotAllowed()
  const network = getNetwork(gateway, path.network)
  context.facts.chainId = network.group.chainId
  return { context, tenant, network, tokenAllowList: undefined }
}

const rejectUnavailable = (gateway: GatewayContext, { done }: PendingRequest, error: unknown): void => {
  gateway.log({ event: 'fault', where: 'keyStore', ...describeFault(error), count: 1 })
  done(rejections.keyStoreUnavailable())
}

/** Rejects a request whose key is unknown. Only these consume the limit of their IP, so that guesses from behind a shared IP reject nobody else. */
const rejectUnknownKey = (
  gateway: GatewayContext,
  context: RequestContext,
  rejection: Rejection = rejections.keyUnknown(),
): Rejection => {
  const { granted, retryAfterMs } = gateway.auth.unknownKeys.take(getClientIp(gateway, context.caller))
  return granted === 0 ? rejections.keyUnknownLimited({ retryAfterMs, nowMs: gateway.now() }) : rejection
}

/** Limits how many tokens with wrong signatures an IP may send to an app, because a signature costs far more to verify than to invent. */
const limitSignatures = (gateway: GatewayContext, context: RequestContext, app: string): Rejection | undefined => {
  const { unknownKeys } = gateway.auth
  const ip = getClientIp(gateway, context.caller)
  if (unknownKeys.take(ip, { app, calls: 0 }).remaining > 0) return undefined
  const { granted, retryAfterMs } = unknownKeys.take(ip, { app })
  return granted > 0 ? undefined : rejections.keyUnknownLimited({ retryAfterMs, nowMs: gateway.now() })
}

/** The IP address of the caller, which a trusted proxy may have forwarded. */
export const getClientIp = (
  { auth: { clientIp } }: GatewayContext,
  { headers, socket }: Caller,
): string | undefined => {
  const forwarded = headers['x-forwarded-for']
  return clientIp(socket.remoteAddress, Array.isArray(forwarded) ? forwarded.join(',') : forwarded)
}
