import type { AllowListEntries, AllowListEntry, AllowListType } from '../allowList/allowListEntries.ts'
import { compileAllowList } from '../allowList/compileAllowList.ts'
import { compileJwtPolicy } from '../jwt/jwtPolicy.ts'
import type { Access } from '../../storage/access.ts'
import type { AllowType } from '../../storage/allowList.ts'
import type { KeyLimits, KeyRecord } from './keyStore.ts'

const typeOf: Readonly<Record<AllowType, AllowListType>> = {
  origin: 'origins',
  ip: 'ips',
  method: 'methods',
  address: 'addresses',
  userAgent: 'userAgents',
}

const entriesOf = (stored: readonly { readonly type: AllowType; readonly value: string }[]): AllowListEntries => {
  const entries: Partial<Record<AllowListType, AllowListEntry[]>> = {}
  for (const { type, value } of stored) (entries[typeOf[type]] ??= []).push({ value })
  return entries
}

const statusOf = ({ keyState, user }: Access): KeyRecord['status'] => {
  if (keyState === 'revoked') return 'revoked'
  return user.state === 'disabled' ? 'disabled' : 'active'
}

const ofApp = (app: NonNullable<Access['app']>): Pick<KeyRecord, 'appId' | 'services' | 'allow' | 'jwt'> => ({
  appId: app.id,
  services: app.services,
  ...(app.allow.length === 0 ? {} : { allow: compileAllowList(entriesOf(app.allow)) }),
  ...(app.jwtKeys.length === 0 && !app.requireJwt
    ? {}
    : {
        jwt: {
          policy: compileJwtPolicy({
            keys: app.jwtKeys.map(({ kid, publicPem }) => ({ kid, pem: publicPem })),
            audience: app.jwtAudience ?? undefined,
            maxLifetimeS: app.jwtMaxLifetimeS ?? undefined,
          }),
          required: app.requireJwt,
        },
      }),
})

/**
 * Compiles what is stored about a key into what is asked of it at every request.
 * @param found.limits - The limits in force for it.
 * @param found.by - What it was found by. Found by a token's `kid`, the end of the app's own key is not its.
 * @throws {TypeError} where what is stored cannot be compiled: then no call may pass.
 */
export const toKeyRecord = (access: Access, { limits, by }: { limits: KeyLimits; by: 'hash' | 'kid' }): KeyRecord => ({
  id: access.keyId,
  kind: access.kind === 'app' ? 'app' : 'apiKey',
  networks: access.networks,
  status: statusOf(access),
  endsAt: by === 'kid' ? null : access.endsAt,
  userId: access.user.id,
  ...(access.user.quotaOwner === access.user.id ? {} : { quotaOwner: access.user.quotaOwner }),
  version: access.version,
  limits,
  ...(access.app === null ? {} : ofApp(access.app)),
})
