import { createApiKey } from '../../src/lib/secrets/apiKey.ts'
import type { ApiKeyKind } from '../../src/lib/secrets/apiKey.ts'
import { hashApiKey } from '../../src/lib/secrets/hashApiKey.ts'
import { storeKey } from '../../src/lib/secrets/storeKey.ts'
import type { StoredKey } from '../../src/lib/secrets/storeKey.ts'
import type { ServerSecret } from '../../src/lib/secrets/serverSecret.ts'
import type { App, AppDetails } from '../../src/storage/apps.ts'
import { createId } from '../../src/storage/createId.ts'
import type { Key } from '../../src/storage/keys.ts'
import type { Storage } from '../../src/storage/openStorage.ts'
import type { User } from '../../src/storage/users.ts'

/** The time at which tests start. */
export const now = Date.UTC(2026, 10, 21)

/** The details of an app. */
export const details: AppDetails = {
  name: 'My app',
  description: '',
  useCase: 'Wallet',
  chain: 'ethereum',
  services: ['Node API'],
  networks: ['testnet', 'mainnet'],
  requireJwt: false,
  jwtAudience: null,
  jwtMaxLifetimeS: null,
  recordDetails: false,
  confirmNodes: 0,
  confirmHeader: false,
  limits: null,
}

/** Asserts that a result is not a rejection. */
export const granted = <T>(result: T): Exclude<T, string | undefined> => {
  if (typeof result === 'string' || result === undefined) throw new Error(`rejected: ${String(result)}`)
  return result as Exclude<T, string | undefined>
}

/** Creates a key and its stored form. */
export const newKey = <K extends ApiKeyKind>(
  kind: K,
  { userId, id = createId('key'), secret }: { userId: string; id?: string; secret?: ServerSecret },
): { key: string; hash: string; stored: StoredKey & { kind: K } } => {
  const key = createApiKey(kind)
  const stored = storeKey(key, { owner: { id, userId }, ...(secret === undefined ? {} : { secret }) })
  return { key, hash: hashApiKey(key), stored: { ...stored, kind } }
}

/** Creates a user with a unique email address. */
export const addUser = async ({ users }: Pick<Storage, 'users'>): Promise<User> =>
  granted(await users.create({ email: `${createId('usr')}@example.org`, password: '$argon2id$x', now }))

/** Creates an app and its key. */
export const addApp = async (
  { apps }: Pick<Storage, 'apps'>,
  { userId, name = details.name }: { userId: string; name?: string },
): Promise<{ app: App; key: string; hash: string; stored: StoredKey }> => {
  const made = newKey('app', { userId })
  const app = granted(await apps.create({ userId, details: { ...details, name }, key: made.stored, max: 20, now }))
  return { app, ...made }
}

/** Creates an API key. */
export const addApiKey = async (
  { keys }: Pick<Storage, 'keys'>,
  { userId, secret }: { userId: string; secret?: ServerSecret },
): Promise<{ row: Key; key: string; hash: string }> => {
  const { key, hash, stored } = newKey('testnet', { userId, ...(secret === undefined ? {} : { secret }) })
  return {
    row: granted(await keys.createApiKey({ network: 'testnet', userId, name: 'k', description: '', key: stored, now })),
    key,
    hash,
  }
}
