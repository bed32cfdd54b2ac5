import { getFaultCode } from '../../errors/faultLog.ts'
import type { FoundKey, KeyRecord } from '../../auth/key/keyStore.ts'
import { rejectKey } from '../../auth/key/rejectKey.ts'
import { parseTestKey, toTestTenant } from '../../auth/key/testKeys.ts'
import { tenantOf } from '../../auth/key/tenant.ts'
import type { Tenant } from '../../auth/key/tenant.ts'
import type { JwtResult } from '../../auth/jwt/jwtResult.ts'
import { kidOf, parseJwt } from '../../auth/jwt/parseJwt.ts'
import { readBearer } from '../../auth/jwt/readBearer.ts'
import { rejectJwt } from '../../auth/jwt/rejectJwt.ts'
import type { CallPath } from '../http/parsePath.ts'
import { rejections } from '../../errors/rejections.ts'
import type { Rejection } from '../../errors/rejection.ts'
import { handleCalls } from './handleCalls.ts'
import type { Admitted } from './handleCalls.ts'
import type { GatewayContext } from './gatewayContext.ts'
import type { RequestContext } from './requestContext.ts'
import { sendRejection } from './endRequest.ts'
import { keyHash } from './keyHash.ts'

/**
 * Finds out who asks, before the body is kept, so that a stranger's bytes are not; goes on with the calls where they may be made.
 * A path without a key, `/{network}/v2`, is for tokens alone: its app is found by the token's `kid`.
 */
export const checkKey = (gateway: GatewayContext, context: RequestContext, at: CallPath): void => {
  context.network = at.network
  if (at.key === undefined) {
    admitToken(gateway, context, at)
    return
  }
  const hash = keyHash(at)
  if (hash === undefined) {
    if (!gateway.testKeys || !admitTestKey(gateway, context, at))
      rejectUnknownKey(gateway, context, rejections.keyUnknown())
    return
  }
  let found: FoundKey
  try {
    found = gateway.keys.find(hash)
  } catch (error) {
    rejectUnavailable(gateway, context, error)
    return
  }
  if (isThenable(found))
    Promise.resolve(found).then(
      (record) => judge(gateway, context, { at, record }),
      (error: unknown) => rejectUnavailable(gateway, context, error),
    )
  else judge(gateway, context, { at, record: found })
}

/** Some database clients answer with a promise of their own kind. */
const isThenable = (found: object | null | undefined): found is PromiseLike<KeyRecord | undefined> =>
  typeof found === 'object' && found !== null && 'then' in found

const rejectUnavailable = (gateway: GatewayContext, context: RequestContext, error: unknown): void => {
  gateway.log({ event: 'fault', where: 'keyStore', code: getFaultCode(error), count: 1 })
  sendRejection(gateway, context, rejections.keyStoreUnavailable())
}

/** Only who comes with nothing that is known pays for it, so that nobody is rejected for a neighbour's guesses. */
const rejectUnknownKey = (gateway: GatewayContext, context: RequestContext, rejection: Rejection): void => {
  const { granted, retryAfterMs } = gateway.unknownKeys.take(ipOf(gateway, context))
  const limited = rejections.keyUnknownLimited
  sendRejection(gateway, context, granted === 0 ? limited({ retryAfterMs, nowMs: gateway.now() }) : rejection)
}

/** Why no more tokens of an app are looked at for an IP: its signatures failed too often. They cost more than they cost who makes them up. */
const rejectForger = (gateway: GatewayContext, context: RequestContext, app: string): Rejection | undefined => {
  const ip = ipOf(gateway, context)
  if (gateway.unknownKeys.take(ip, { app, calls: 0 }).remaining > 0) return undefined
  const { granted, retryAfterMs } = gateway.unknownKeys.take(ip, { app })
  return granted > 0 ? undefined : rejections.keyUnknownLimited({ retryAfterMs, nowMs: gateway.now() })
}

const ipOf = ({ clientIp }: GatewayContext, { request }: RequestContext): string | undefined => {
  const forwarded = request.headers['x-forwarded-for']
  return clientIp(request.socket.remoteAddress, Array.isArray(forwarded) ? forwarded.join(',') : forwarded)
}

const admitTestKey = (gateway: GatewayContext, context: RequestContext, at: CallPath): boolean => {
  const testKey = parseTestKey(at.key ?? '')
  if (testKey === undefined) return false
  const tenant = toTestTenant(testKey, at.variant)
  if (testKey === '401' || tenant === undefined) sendRejection(gateway, context, rejections.keyUnknown())
  else {
    context.tenant = tenant
    context.chainId = gateway.groups[at.network].chainId
    handleCalls(gateway, context as Admitted)
  }
  return true
}

/** Judges what was found by a key. Its order is part of the contract: see `handleRequest`. */
const judge = (
  gateway: GatewayContext,
  context: RequestContext,
  { at, record }: { at: CallPath; record: KeyRecord | null | undefined },
): void => {
  if (record === undefined || record === null) rejectUnknownKey(gateway, context, rejections.keyUnknown())
  // A throw here would end the process: nobody waits for it.
  else if (!Array.isArray(record.networks)) rejectUnavailable(gateway, context, undefined)
  else {
    const tenant = know(gateway, context, record)
    const rejection =
      rejectKey(record, at, gateway.now()) ??
      rejectByAllowList(gateway, context, record.allow) ??
      rejectByToken(gateway, context, tenant) ??
      rejectByService(record)
    if (rejection !== undefined) sendRejection(gateway, context, rejection)
    else handleCalls(gateway, context as Admitted)
  }
}

const know = (gateway: GatewayContext, context: RequestContext, record: KeyRecord): Tenant => {
  const tenant = tenantOf(record)
  context.tenant = tenant
  const { network } = context
  if (network !== undefined && record.networks.includes(network)) context.chainId = gateway.groups[network].chainId
  return tenant
}

const rejectByAllowList = (
  gateway: GatewayContext,
  context: RequestContext,
  allow: KeyRecord['allow'],
): Rejection | undefined => {
  if (allow === undefined) return undefined
  const { origin, 'user-agent': userAgent } = context.request.headers
  return allow.rejectRequest({ ip: ipOf(gateway, context), origin, userAgent })
}

/** What is found of a token; `undefined` where the app has no JWT keys; a rejection where it is not even looked at. */
const verifyToken = (
  gateway: GatewayContext,
  context: RequestContext,
  { token, record }: { token: string | undefined; record: KeyRecord },
): JwtResult | Rejection | undefined => {
  if (record.jwt === undefined) return undefined
  const { jwtCache, unknownKeys } = gateway
  const app = { id: record.appId ?? record.id, version: record.version ?? 0, jwt: record.jwt.policy }
  if (token === undefined) return jwtCache.judge(token, app)
  const known = jwtCache.find(token, app)
  if (known !== undefined) return known
  const rejection = rejectForger(gateway, context, app.id)
  if (rejection !== undefined) return rejection
  const verdict = jwtCache.judge(token, app)
  if (!verdict.ok && verdict.check === 'signature') unknownKeys.take(ipOf(gateway, context), { app: app.id })
  return verdict
}

/** A token that is there must be good, also where none is asked for. An app without JWT keys looks at none. */
const rejectByToken = (gateway: GatewayContext, context: RequestContext, tenant: Tenant): Rejection | undefined => {
  const { jwt } = tenant.record
  if (jwt === undefined) return undefined
  const token = readBearer(context.request.headers.authorization)
  if (token === undefined && !jwt.required) return undefined
  const verdict = verifyToken(gateway, context, { token, record: tenant.record })
  if (verdict === undefined || 'reason' in verdict) return verdict
  return rejectJwt(verdict) ?? narrow(gateway, context, verdict)
}

/** Takes over what a good token allows. */
const narrow = (gateway: GatewayContext, context: RequestContext, verdict: JwtResult): Rejection | undefined => {
  if (!verdict.ok) return undefined
  context.narrowing = verdict.allow
  return rejectByAllowList(gateway, context, verdict.allow)
}

const service = 'Node API'

const rejectByService = ({ services }: KeyRecord): Rejection | undefined =>
  services === undefined || services.includes(service) ? undefined : rejections.serviceOff()

const admitToken = (gateway: GatewayContext, context: RequestContext, at: CallPath): void => {
  const token = readBearer(context.request.headers.authorization)
  if (token === undefined || gateway.keys.findByKid === undefined) {
    rejectUnknownKey(gateway, context, rejections.keyUnknown())
    return
  }
  const kid = kidOf(token)
  if (kid === undefined) {
    const malformed = parseJwt(token) === undefined
    const rejection = malformed
      ? rejections.jwtInvalid('malformed', 'malformed')
      : rejections.jwtInvalid('kid', 'no kid')
    rejectUnknownKey(gateway, context, rejection)
    return
  }
  let found: FoundKey
  try {
    found = gateway.keys.findByKid(kid)
  } catch (error) {
    rejectUnavailable(gateway, context, error)
    return
  }
  if (isThenable(found))
    Promise.resolve(found).then(
      (record) => checkTokenRecord(gateway, context, { at, token, record }),
      (error: unknown) => rejectUnavailable(gateway, context, error),
    )
  else checkTokenRecord(gateway, context, { at, token, record: found })
}

/** These fail before the signature is known to be good: anybody can bring them about, so they say nothing of the app. */
const strange: ReadonlySet<string> = new Set(['missing', 'malformed', 'header', 'kid', 'algorithm', 'signature'])

/** Judges what was found by a token alone. The token comes first: until its signature is good, nothing is said of the app. */
const checkTokenRecord = (
  gateway: GatewayContext,
  context: RequestContext,
  { at, token, record }: { at: CallPath; token: string; record: KeyRecord | null | undefined },
): void => {
  if (record !== undefined && record !== null && !Array.isArray(record.networks)) {
    rejectUnavailable(gateway, context, undefined)
    return
  }
  const verdict = record ? verifyToken(gateway, context, { token, record }) : undefined
  if (!record || verdict === undefined) {
    rejectUnknownKey(gateway, context, rejections.jwtInvalid('kid', 'unknown kid'))
    return
  }
  if ('reason' in verdict) {
    sendRejection(gateway, context, verdict)
    return
  }
  const rejected = rejectJwt(verdict)
  if (rejected !== undefined && !verdict.ok && strange.has(verdict.check)) {
    rejectUnknownKey(gateway, context, rejected)
    return
  }
  know(gateway, context, record)
  const rejection =
    rejected ??
    rejectKey(record, at, gateway.now()) ??
    rejectByAllowList(gateway, context, record.allow) ??
    narrow(gateway, context, verdict) ??
    rejectByService(record)
  if (rejection !== undefined) sendRejection(gateway, context, rejection)
  else handleCalls(gateway, context as Admitted)
}
