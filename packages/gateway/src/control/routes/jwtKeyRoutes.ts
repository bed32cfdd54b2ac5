import { importJwtKey } from '../../auth/jwt/importJwtKey.ts'
import type { JwtPublicKey } from '../../auth/jwt/importJwtKey.ts'
import { createJwtKeyId } from '../../auth/jwt/jwtKeyId.ts'
import { compileJwtPolicy, maxJwtKeys } from '../../auth/jwt/jwtPolicy.ts'
import { verifyJwt } from '../../auth/jwt/verifyJwt.ts'
import type { JwtKey } from '../../storage/jwtKeys.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { lacksJwtKey } from '../jwtRequirement.ts'
import { apiErrors } from '../apiErrors.ts'
import { createView } from '../views/createView.ts'
import { isoTime } from '../views/times.ts'
import { addJwtKeyBody, jwtKeyView, jwtKeysView, jwtTestView, testJwtBody } from '../contract/jwtKey.ts'
import type { JwtKeyView, JwtTestView } from '../contract/controlApi.d.ts'
import { requireAccountId, route } from '../route.ts'
import type { HandlerResult, Route } from '../route.ts'

const toKey = createView(jwtKeyView)
const toJwtKeyView = (key: JwtKey): JwtKeyView => ({
  ...toKey(key),
  algorithms: importJwtKey(key.publicPem).algorithms,
})

/** Parses a public key. The problem does not contain any part of the PEM. */
const parsePem = (pem: string): JwtPublicKey | { fix: string } => {
  try {
    return importJwtKey(pem)
  } catch (error) {
    if (error instanceof TypeError) return { fix: `cannot be used: ${error.message}` }
    throw error
  }
}

/** The routes of apps' JWT keys. */
export const jwtKeyRoutes: readonly Route[] = [
  route(
    'GET /api/apps/{appId}/jwt-keys',
    { summary: "Lists an app's JWT keys.", access: 'read', response: jwtKeysView },
    async ({ params, caller }, { storage }) => {
      const { appId } = params
      const userId = requireAccountId(caller)
      if ((await storage.apps.find({ id: appId, userId })) === undefined) return { error: apiErrors.notFound() }
      const keys = await storage.jwtKeys.list({ appId, userId })
      return { response: { items: keys.map(toJwtKeyView), max: maxJwtKeys } }
    },
  ),

  route(
    'POST /api/apps/{appId}/jwt-keys',
    {
      summary: 'Imports a public key. A private key is rejected and not stored.',
      access: 'apps:write',
      status: 201,
      body: addJwtKeyBody,
      response: jwtKeyView,
    },
    async ({ params, body, caller }, parts) => {
      const { now } = parts
      const { appId } = params
      const key = parsePem(body.pem)
      if ('fix' in key) return { error: apiErrors.invalid([{ field: 'pem', fix: key.fix }]) }
      const { pem: publicPem, fingerprint, algorithms } = key
      const userId = requireAccountId(caller)
      const kid = createJwtKeyId()
      const stored = { kid, alg: algorithms.join(' '), publicPem, fingerprint, label: body.label ?? '' }
      const added = await changeWithAudit(
        parts,
        caller,
        ({ jwtKeys }) => jwtKeys.add({ appId, userId, key: stored, max: maxJwtKeys, now: now() }),
        () => ({
          action: 'jwtKey.add',
          subject: appId,
          detail: { kid, fingerprint },
          forget: { kind: 'app', id: appId },
        }),
      )
      if (added === 'notFound') return { error: apiErrors.notFound() }
      if (added === 'jwtKeyTaken') return { error: apiErrors.alreadyExists('pem', 'is already imported for this app') }
      if (added === 'jwtKeysFull')
        return {
          error: apiErrors.tooMany(`This app has ${maxJwtKeys} JWT keys, the maximum. Remove one first.`),
        }
      if (added === 'kidTaken') throw new Error('a random kid was already in use')
      return { response: toJwtKeyView(added) }
    },
  ),

  route(
    'DELETE /api/apps/{appId}/jwt-keys/{kid}',
    { summary: 'Removes a JWT key. JWTs that it signed are rejected from then on.', access: 'apps:write' },
    async ({ params, caller }, parts) => {
      const { appId, kid } = params
      const userId = requireAccountId(caller)
      const removed = await changeWithAudit(
        parts,
        caller,
        async ({ apps, jwtKeys }) => {
          const app = await apps.find({ id: appId, userId })
          const keys = await jwtKeys.list({ appId, userId })
          const key = keys.find((one) => one.kid === kid)
          if (app === undefined || key === undefined) return 'notFound'
          if (lacksJwtKey(app, keys.length - 1)) return 'lastKey'
          return (await jwtKeys.remove({ kid, appId, userId })) ? key : 'notFound'
        },
        ({ fingerprint }) => ({
          action: 'jwtKey.remove',
          subject: appId,
          detail: { kid, fingerprint },
          forget: { kind: 'app', id: appId },
        }),
      )
      if (removed === 'notFound') return { error: apiErrors.notFound() }
      if (removed === 'lastKey')
        return {
          error: apiErrors.inUse(
            'The app requires JWTs and this is its only JWT key. Import another key first, or stop requiring JWTs.',
          ),
        }
      return { response: undefined }
    },
  ),

  route(
    'POST /api/apps/{appId}/jwt-keys/test',
    {
      summary: 'Verifies a JWT like one of a request to the app, and reports the first failed check.',
      access: 'read',
      body: testJwtBody,
      response: jwtTestView,
    },
    async ({ params, body, caller }, { storage, now }): Promise<HandlerResult<JwtTestView>> => {
      const { appId } = params
      const userId = requireAccountId(caller)
      const app = await storage.apps.find({ id: appId, userId })
      if (app === undefined) return { error: apiErrors.notFound() }
      const keys = await storage.jwtKeys.list({ appId, userId })
      const policy = compileJwtPolicy({
        keys: keys.map(({ kid, publicPem }) => ({ kid, pem: publicPem })),
        audience: app.jwtAudience ?? undefined,
        maxLifetimeS: app.jwtMaxLifetimeS ?? undefined,
      })
      const result = verifyJwt(body.token.trim(), policy, now())
      if (!result.ok) return { response: { ok: false, check: result.check, message: result.message } }
      return {
        response: {
          ok: true,
          kid: result.kid,
          expiresAt: isoTime(result.untilMs),
          narrows: result.allow !== undefined,
        },
      }
    },
  ),
]
