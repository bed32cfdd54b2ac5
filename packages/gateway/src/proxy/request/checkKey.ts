import { faultCode } from '../../errors/faultLog.ts'
import type { FoundKey, KeyRecord } from '../../auth/key/keyStore.ts'
import { refuseKey } from '../../auth/key/rejectKey.ts'
import { rehearsalOf, rehearsalTenant } from '../../auth/key/testKeys.ts'
import { tenantOf } from '../../auth/key/tenant.ts'
import type { Tenant } from '../../auth/key/tenant.ts'
import type { JwtVerdict } from '../../auth/jwt/jwtResult.ts'
import { kidOf, parseJwt } from '../../auth/jwt/parseJwt.ts'
import { readBearer } from '../../auth/jwt/readBearer.ts'
import { refuseJwt } from '../../auth/jwt/rejectJwt.ts'
import type { CallPath } from '../http/parsePath.ts'
import { refusals } from '../../errors/rejections.ts'
import type { Refusal } from '../../errors/rejection.ts'
import { answerCalls } from './handleCalls.ts'
import type { Admitted } from './handleCalls.ts'
import type { Answering } from './gatewayContext.ts'
import type { Exchange } from './requestContext.ts'
import { refuseExchange } from './endRequest.ts'
import { keyHash } from './keyHash.ts'

/**
 * Finds out who asks, before the body is kept, so that a stranger's bytes are not; goes on with the calls where they may be made.
 * A path without a key, `/{network}/v2`, is for tokens alone: its app is found by the token's `kid`.
 */
export const admitKey = (answering: Answering, exchange: Exchange, at: CallPath): void => {
  exchange.network = at.network
  if (at.key === undefined) {
    admitToken(answering, exchange, at)
    return
  }
  const hash = keyHash(at)
  if (hash === undefined) {
    if (!answering.rehearsalKeys || !admitRehearsal(answering, exchange, at))
      refuseStranger(answering, exchange, refusals.keyUnknown())
    return
  }
  let found: FoundKey
  try {
    found = answering.keys.find(hash)
  } catch (error) {
    refuseUnavailable(answering, exchange, error)
    return
  }
  if (isThenable(found))
    Promise.resolve(found).then(
      (record) => judge(answering, exchange, { at, record }),
      (error: unknown) => refuseUnavailable(answering, exchange, error),
    )
  else judge(answering, exchange, { at, record: found })
}

/** Some database clients answer with a promise of their own kind. */
const isThenable = (found: object | null | undefined): found is PromiseLike<KeyRecord | undefined> =>
  typeof found === 'object' && found !== null && 'then' in found

const refuseUnavailable = (answering: Answering, exchange: Exchange, error: unknown): void => {
  answering.log({ event: 'fault', where: 'keyStore', code: faultCode(error), count: 1 })
  refuseExchange(answering, exchange, refusals.keyStoreUnavailable())
}

/** Only who comes with nothing that is known pays for it, so that nobody is refused for a neighbour's guesses. */
const refuseStranger = (answering: Answering, exchange: Exchange, refusal: Refusal): void => {
  const { granted, retryAfterMs } = answering.strangers.take(ipOf(answering, exchange))
  const limited = refusals.keyUnknownLimited
  refuseExchange(answering, exchange, granted === 0 ? limited({ retryAfterMs, nowMs: answering.now() }) : refusal)
}

/** Why no more tokens of an app are looked at for an IP: its signatures failed too often. They cost more than they cost who makes them up. */
const refuseForger = (answering: Answering, exchange: Exchange, app: string): Refusal | undefined => {
  const ip = ipOf(answering, exchange)
  if (answering.strangers.take(ip, { app, calls: 0 }).remaining > 0) return undefined
  const { granted, retryAfterMs } = answering.strangers.take(ip, { app })
  return granted > 0 ? undefined : refusals.keyUnknownLimited({ retryAfterMs, nowMs: answering.now() })
}

const ipOf = ({ clientIp }: Answering, { request }: Exchange): string | undefined => {
  const forwarded = request.headers['x-forwarded-for']
  return clientIp(request.socket.remoteAddress, Array.isArray(forwarded) ? forwarded.join(',') : forwarded)
}

const admitRehearsal = (answering: Answering, exchange: Exchange, at: CallPath): boolean => {
  const rehearsal = rehearsalOf(at.key ?? '')
  if (rehearsal === undefined) return false
  const tenant = rehearsalTenant(rehearsal, at.variant)
  if (rehearsal === '401' || tenant === undefined) refuseExchange(answering, exchange, refusals.keyUnknown())
  else {
    exchange.tenant = tenant
    exchange.chainId = answering.groups[at.network].chainId
    answerCalls(answering, exchange as Admitted)
  }
  return true
}

/** Judges what was found by a key. Its order is part of the contract: see `answerRequest`. */
const judge = (
  answering: Answering,
  exchange: Exchange,
  { at, record }: { at: CallPath; record: KeyRecord | null | undefined },
): void => {
  if (record === undefined || record === null) refuseStranger(answering, exchange, refusals.keyUnknown())
  // A throw here would end the process: nobody waits for it.
  else if (!Array.isArray(record.networks)) refuseUnavailable(answering, exchange, undefined)
  else {
    const tenant = know(answering, exchange, record)
    const refusal =
      refuseKey(record, at, answering.now()) ??
      refuseByList(answering, exchange, record.allow) ??
      refuseByToken(answering, exchange, tenant) ??
      refuseByService(record)
    if (refusal !== undefined) refuseExchange(answering, exchange, refusal)
    else answerCalls(answering, exchange as Admitted)
  }
}

const know = (answering: Answering, exchange: Exchange, record: KeyRecord): Tenant => {
  const tenant = tenantOf(record)
  exchange.tenant = tenant
  const { network } = exchange
  if (network !== undefined && record.networks.includes(network)) exchange.chainId = answering.groups[network].chainId
  return tenant
}

const refuseByList = (answering: Answering, exchange: Exchange, allow: KeyRecord['allow']): Refusal | undefined => {
  if (allow === undefined) return undefined
  const { origin, 'user-agent': userAgent } = exchange.request.headers
  return allow.refuseRequest({ ip: ipOf(answering, exchange), origin, userAgent })
}

/** What is found of a token; `undefined` where the app has no JWT keys; a refusal where it is not even looked at. */
const verdictOn = (
  answering: Answering,
  exchange: Exchange,
  { token, record }: { token: string | undefined; record: KeyRecord },
): JwtVerdict | Refusal | undefined => {
  if (record.jwt === undefined) return undefined
  const { verdicts, strangers } = answering
  const app = { id: record.appId ?? record.id, version: record.version ?? 0, jwt: record.jwt.policy }
  if (token === undefined) return verdicts.judge(token, app)
  const known = verdicts.find(token, app)
  if (known !== undefined) return known
  const refusal = refuseForger(answering, exchange, app.id)
  if (refusal !== undefined) return refusal
  const verdict = verdicts.judge(token, app)
  if (!verdict.ok && verdict.check === 'signature') strangers.take(ipOf(answering, exchange), { app: app.id })
  return verdict
}

/** A token that is there must be good, also where none is asked for. An app without JWT keys looks at none. */
const refuseByToken = (answering: Answering, exchange: Exchange, tenant: Tenant): Refusal | undefined => {
  const { jwt } = tenant.record
  if (jwt === undefined) return undefined
  const token = readBearer(exchange.request.headers.authorization)
  if (token === undefined && !jwt.required) return undefined
  const verdict = verdictOn(answering, exchange, { token, record: tenant.record })
  if (verdict === undefined || 'reason' in verdict) return verdict
  return refuseJwt(verdict) ?? narrow(answering, exchange, verdict)
}

/** Takes over what a good token allows. */
const narrow = (answering: Answering, exchange: Exchange, verdict: JwtVerdict): Refusal | undefined => {
  if (!verdict.ok) return undefined
  exchange.narrowing = verdict.allow
  return refuseByList(answering, exchange, verdict.allow)
}

const service = 'Node API'

const refuseByService = ({ services }: KeyRecord): Refusal | undefined =>
  services === undefined || services.includes(service) ? undefined : refusals.serviceOff()

const admitToken = (answering: Answering, exchange: Exchange, at: CallPath): void => {
  const token = readBearer(exchange.request.headers.authorization)
  if (token === undefined || answering.keys.findByKid === undefined) {
    refuseStranger(answering, exchange, refusals.keyUnknown())
    return
  }
  const kid = kidOf(token)
  if (kid === undefined) {
    const malformed = parseJwt(token) === undefined
    const refusal = malformed ? refusals.jwtInvalid('malformed', 'malformed') : refusals.jwtInvalid('kid', 'no kid')
    refuseStranger(answering, exchange, refusal)
    return
  }
  let found: FoundKey
  try {
    found = answering.keys.findByKid(kid)
  } catch (error) {
    refuseUnavailable(answering, exchange, error)
    return
  }
  if (isThenable(found))
    Promise.resolve(found).then(
      (record) => judgeToken(answering, exchange, { at, token, record }),
      (error: unknown) => refuseUnavailable(answering, exchange, error),
    )
  else judgeToken(answering, exchange, { at, token, record: found })
}

/** These fail before the signature is known to be good: anybody can bring them about, so they say nothing of the app. */
const strange: ReadonlySet<string> = new Set(['missing', 'malformed', 'header', 'kid', 'algorithm', 'signature'])

/** Judges what was found by a token alone. The token comes first: until its signature is good, nothing is said of the app. */
const judgeToken = (
  answering: Answering,
  exchange: Exchange,
  { at, token, record }: { at: CallPath; token: string; record: KeyRecord | null | undefined },
): void => {
  if (record !== undefined && record !== null && !Array.isArray(record.networks)) {
    refuseUnavailable(answering, exchange, undefined)
    return
  }
  const verdict = record ? verdictOn(answering, exchange, { token, record }) : undefined
  if (!record || verdict === undefined) {
    refuseStranger(answering, exchange, refusals.jwtInvalid('kid', 'unknown kid'))
    return
  }
  if ('reason' in verdict) {
    refuseExchange(answering, exchange, verdict)
    return
  }
  const refused = refuseJwt(verdict)
  if (refused !== undefined && !verdict.ok && strange.has(verdict.check)) {
    refuseStranger(answering, exchange, refused)
    return
  }
  know(answering, exchange, record)
  const refusal =
    refused ??
    refuseKey(record, at, answering.now()) ??
    refuseByList(answering, exchange, record.allow) ??
    narrow(answering, exchange, verdict) ??
    refuseByService(record)
  if (refusal !== undefined) refuseExchange(answering, exchange, refusal)
  else answerCalls(answering, exchange as Admitted)
}
