import type { Accounts } from '../control/account/accounts.ts'
import { isAccountError } from '../control/account/accountError.ts'
import { createApiKey } from '../lib/secrets/apiKey.ts'
import { hashApiKey } from '../lib/secrets/hashApiKey.ts'
import { openKey } from '../lib/secrets/sealKey.ts'
import { storeKey } from '../lib/secrets/storeKey.ts'
import { networkNames } from '../lib/network.ts'
import type { Network } from '../lib/network.ts'
import { createId } from '../storage/createId.ts'
import type { Storage } from '../storage/openStorage.ts'
import type { ServerSecrets } from './readServerSecrets.ts'

/** An account with an app and a key for each network, by the very secrets that they are to have. */
export interface ProvidedAccount {
  readonly account: { readonly email: string; readonly password: string }
  readonly app: { readonly id: string; readonly apiKey: string }
  readonly keys: Readonly<Record<Network, { readonly id: string; readonly apiKey: string }>>
}

/** What the service stands in front of, as far as the app says it. */
export interface ProvidedFor {
  readonly chain: string
  readonly maxApps: number
}

interface Parts {
  readonly storage: Storage
  readonly accounts: Accounts
  readonly secrets: ServerSecrets
  readonly now: () => number
}

const appName = 'Example app'
const attempts = 20

const userOf = async ({ accounts }: Parts, { email, password }: ProvidedAccount['account']): Promise<string> => {
  const known = await accounts.operator.findUser({ email })
  if (known !== undefined) return known.id
  const made = await accounts.operator.addUser({ email, password, role: 'operator' })
  if (isAccountError(made)) throw new Error(`the account cannot be made: ${made.message}`)
  return made.id
}

/** What a stored key is now, where it can be shown. */
const revealed = async (
  { storage, secrets }: Parts,
  owner: { id: string; userId: string },
): Promise<string | undefined> => {
  const sealed = await storage.keys.findSealed(owner)
  try {
    return sealed === undefined ? undefined : openKey(sealed.sealed, owner, secrets)
  } catch {
    return undefined
  }
}

/** Whether a key opens something of this user now. */
const accessBy = async ({ storage }: Parts, apiKey: string, userId: string) => {
  const access = await storage.findAccess(hashApiKey(apiKey))
  return access?.user.id === userId && access.keyState === 'active' && !access.old ? access : undefined
}

const provideApp = async (
  parts: Parts,
  { app, userId, chain, maxApps }: ProvidedFor & { app: ProvidedAccount['app']; userId: string },
): Promise<ProvidedAccount['app']> => {
  const { storage, secrets, now } = parts
  const access = await accessBy(parts, app.apiKey, userId)
  if (access?.app) return { id: access.app.id, apiKey: app.apiKey }
  // Its key may have been rotated since.
  const key = await storage.keys.findByApp({ appId: app.id, userId })
  const current = key && (await revealed(parts, { id: key.id, userId }))
  if (current !== undefined) return { id: app.id, apiKey: current }
  const isFree = (await storage.findAccess(hashApiKey(app.apiKey))) === undefined
  const apiKey = isFree ? app.apiKey : createApiKey('app')
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const made = await storage.apps.create({
      userId,
      details: {
        name: attempt === 1 ? appName : `${appName} ${attempt}`,
        description: '',
        useCase: 'Other',
        chain,
        services: ['Node API'],
        networks: networkNames,
        requireJwt: false,
        limits: null,
      },
      key: storeKey(apiKey, { owner: { id: createId('key'), userId }, secret: secrets[0] }),
      max: Math.max(maxApps, 1),
      now: now(),
    })
    if (typeof made !== 'string') return { id: made.id, apiKey }
    if (made !== 'nameTaken') break
  }
  throw new Error('the app cannot be made: the account has as many as it may')
}

const provideKey = async (
  parts: Parts,
  { network, key, userId }: { network: Network; key: { id: string; apiKey: string }; userId: string },
): Promise<{ id: string; apiKey: string }> => {
  const { storage, secrets, now } = parts
  const access = await accessBy(parts, key.apiKey, userId)
  if (access !== undefined) return { id: access.keyId, apiKey: key.apiKey }
  // It may have been rotated, or revoked and another made in its place.
  const own = (await storage.keys.listApiKeys(userId)).filter(({ kind }) => kind === network)
  for (const { id } of own.toSorted((one) => (one.id === key.id ? -1 : 1))) {
    const apiKey = await revealed(parts, { id, userId })
    if (apiKey !== undefined) return { id, apiKey }
  }
  const isFree = (await storage.findAccess(hashApiKey(key.apiKey))) === undefined
  const apiKey = isFree ? key.apiKey : createApiKey(network)
  const stored = storeKey(apiKey, { owner: { id: createId('key'), userId }, secret: secrets[0] })
  const made = await storage.keys.createApiKey({
    userId,
    name: `Example key, ${network}`,
    description: '',
    key: { ...stored, kind: network },
    now: now(),
  })
  if (typeof made === 'string') throw new Error(`the ${network} key cannot be made: the account has as many as it may`)
  return { id: made.id, apiKey }
}

/**
 * Sees to it that an account is there, with an app and a key for each network. What is there is left as it is; a key that was exchanged or
 * revoked since gives way to the one that works now.
 * @param wanted - The account, and the keys that it is to have where they are not there yet.
 * @returns What is there: its ids, and keys that work.
 */
export const provideAccount = async (
  parts: Parts,
  wanted: ProvidedAccount,
  of: ProvidedFor,
): Promise<ProvidedAccount> => {
  const userId = await userOf(parts, wanted.account)
  const app = await provideApp(parts, { ...of, app: wanted.app, userId })
  const keyOf = (network: Network) => provideKey(parts, { network, key: wanted.keys[network], userId })
  // One after the other: SQLite has one writer.
  const testnet = await keyOf('testnet')
  return { account: wanted.account, app, keys: { testnet, mainnet: await keyOf('mainnet') } }
}
