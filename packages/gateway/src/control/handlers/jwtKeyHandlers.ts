import { importJwtKey } from '../../auth/jwt/importJwtKey.ts'
import type { JwtPublicKey } from '../../auth/jwt/importJwtKey.ts'
import { createJwtKeyId } from '../../auth/jwt/jwtKeyId.ts'
import { compileJwtPolicy, maxJwtKeys } from '../../auth/jwt/jwtPolicy.ts'
import { verifyJwt } from '../../auth/jwt/verifyJwt.ts'
import type { JwtKey } from '../../storage/jwtKeys.ts'
import { change } from '../change.ts'
import type { JwtKeyView } from '../contract/jwtKey.ts'
import { apiErrors } from '../apiErrors.ts'
import { viewerOf } from '../handler.ts'
import type { ControlParts, Handlers } from '../handler.ts'
import { isoTime } from '../views/times.ts'

const show = ({ kid, publicPem, fingerprint, label, createdAt }: JwtKey): JwtKeyView => ({
  kid,
  algorithms: importJwtKey(publicPem).algorithms,
  fingerprint,
  publicPem,
  label,
  createdAt: isoTime(createdAt),
})

/** Its message holds nothing of what was given. */
const readPem = (pem: string): JwtPublicKey | { fix: string } => {
  try {
    return importJwtKey(pem)
  } catch (error) {
    if (error instanceof TypeError) return { fix: `cannot be used: ${error.message}` }
    throw error
  }
}

/** The JWT keys of apps. */
export const jwtKeyHandlers = (
  parts: ControlParts,
): Handlers<
  | 'GET /api/apps/{appId}/jwt-keys'
  | 'POST /api/apps/{appId}/jwt-keys'
  | 'DELETE /api/apps/{appId}/jwt-keys/{kid}'
  | 'POST /api/apps/{appId}/jwt-keys/test'
> => {
  const { storage, now } = parts
  return {
    'GET /api/apps/{appId}/jwt-keys': async ({ params, caller }) => {
      const { appId } = params
      const userId = viewerOf(caller).user.id
      if ((await storage.apps.find({ id: appId, userId })) === undefined) return { rejection: apiErrors.notFound() }
      const keys = await storage.jwtKeys.list({ appId, userId })
      return { answer: { items: keys.map(show), max: maxJwtKeys } }
    },

    'POST /api/apps/{appId}/jwt-keys': async ({ params, body, caller }) => {
      const { appId } = params
      const key = readPem(body.pem)
      if ('fix' in key) return { rejection: apiErrors.invalid([{ field: 'pem', fix: key.fix }]) }
      const { pem: publicPem, fingerprint, algorithms } = key
      const userId = viewerOf(caller).user.id
      const kid = createJwtKeyId()
      const stored = { kid, alg: algorithms.join(' '), publicPem, fingerprint, label: body.label ?? '' }
      const added = await change(
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
      if (added === 'notFound') return { rejection: apiErrors.notFound() }
      if (added === 'jwtKeyTaken') return { rejection: apiErrors.alreadyExists('pem', 'is one of this app already') }
      if (added === 'jwtKeysFull')
        return {
          rejection: apiErrors.tooMany(`this app has ${maxJwtKeys} JWT keys, which is the most: remove one first`),
        }
      if (added === 'kidTaken') throw new Error('two random kids are the same')
      return { answer: show(added) }
    },

    'DELETE /api/apps/{appId}/jwt-keys/{kid}': async ({ params, caller }) => {
      const { appId, kid } = params
      const userId = viewerOf(caller).user.id
      const removed = await change(
        parts,
        caller,
        async ({ apps, jwtKeys }) => {
          const app = await apps.find({ id: appId, userId })
          const keys = await jwtKeys.list({ appId, userId })
          const key = keys.find((one) => one.kid === kid)
          if (app === undefined || key === undefined) return 'notFound'
          if (app.requireJwt && keys.length === 1) return 'lastOne'
          return (await jwtKeys.remove({ kid, appId, userId })) ? key : 'notFound'
        },
        ({ fingerprint }) => ({
          action: 'jwtKey.remove',
          subject: appId,
          detail: { kid, fingerprint },
          forget: { kind: 'app', id: appId },
        }),
      )
      if (removed === 'notFound') return { rejection: apiErrors.notFound() }
      if (removed === 'lastOne')
        return {
          rejection: apiErrors.inUse(
            'the app requires a JWT, and without this key every call would be rejected: import another first, or require none',
          ),
        }
      return { answer: undefined }
    },

    'POST /api/apps/{appId}/jwt-keys/test': async ({ params, body, caller }) => {
      const { appId } = params
      const userId = viewerOf(caller).user.id
      const app = await storage.apps.find({ id: appId, userId })
      if (app === undefined) return { rejection: apiErrors.notFound() }
      const keys = await storage.jwtKeys.list({ appId, userId })
      const policy = compileJwtPolicy({
        keys: keys.map(({ kid, publicPem }) => ({ kid, pem: publicPem })),
        audience: app.jwtAudience ?? undefined,
        maxLifetimeS: app.jwtMaxLifetimeS ?? undefined,
      })
      const verdict = verifyJwt(body.token.trim(), policy, now())
      if (!verdict.ok) return { answer: { ok: false, check: verdict.check, message: verdict.message } }
      return {
        answer: {
          ok: true,
          kid: verdict.kid,
          expiresAt: isoTime(verdict.untilMs),
          narrows: verdict.allow !== undefined,
        },
      }
    },
  }
}
