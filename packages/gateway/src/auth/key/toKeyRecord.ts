import type { AllowListEntries, AllowListEntry, AllowListType } from '../allowList/allowListEntries.ts'
import { compileAllowList } from '../allowList/compileAllowList.ts'
import type { TrackAllowListUse } from '../allowList/compileAllowList.ts'
import { compileJwtPolicy } from '../jwt/jwtPolicy.ts'
import type { Access } from '../../storage/access.ts'
import type { AllowType } from '../../storage/allowList.ts'
import type { KeyLimits, KeyRecord } from './keyStore.ts'

const listTypes: Readonly<Record<AllowType, AllowListType>> = {
  origin: 'origins',
  ip: 'ips',
  method: 'methods',
  address: 'addresses',
  userAgent: 'userAgents',
}

const toEntries = (stored: NonNullable<Access['app']>['allow']): AllowListEntries => {
  const entries: Partial<Record<AllowListType, AllowListEntry[]>> = {}
  for (const { type, ...entry } of stored) (entries[listTypes[type]] ??= []).push(entry)
  return entries
}

const toStatus = ({ keyState, user }: Access): KeyRecord['status'] => {
  if (keyState === 'revoked') return 'revoked'
  return user.state === 'disabled' ? 'disabled' : 'active'
}

const toAppMembers = (
  app: NonNullable<Access['app']>,
  trackAllowListUse: TrackAllowListUse | undefined,
): Pick<KeyRecord, 'appId' | 'services' | 'allow' | 'jwt'> => ({
  appId: app.id,
  services: app.services,
  ...(app.allow.length === 0 ? {} : { allow: compileAllowList(toEntries(app.allow), { trackUse: trackAllowListUse }) }),
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
 * Compiles a stored key into the record that the gateway checks for every request.
 * @param found.limits - The effective limits of the key.
 * @param found.by - How it was found. For a `kid` the expiry of the app's API key does not apply.
 * @param found.trackAllowListUse - Creates the function to call when an entry of the app's allow list allows a request or a call.
 * @throws {TypeError} if stored data is invalid. In that case no call may pass.
 */
export const toKeyRecord = (
  access: Access,
  {
    limits,
    by,
    trackAllowListUse,
  }: { limits: KeyLimits; by: 'hash' | 'kid'; trackAllowListUse?: TrackAllowListUse | undefined },
): KeyRecord => ({
  id: access.keyId,
  kind: access.kind === 'app' ? 'app' : 'apiKey',
  networks: access.networks,
  status: toStatus(access),
  expiresAt: by === 'kid' ? null : access.endsAt,
  userId: access.user.id,
  ...(access.user.quotaOwner === access.user.id ? {} : { quotaOwner: access.user.quotaOwner }),
  ...(access.old ? { old: true } : {}),
  version: access.version,
  limits,
  recording: access.recording,
  confirm: access.confirm,
  ...(access.app === null ? {} : toAppMembers(access.app, trackAllowListUse)),
})
