import type { Accounts } from '../control/account/accounts.ts'
import { isAccountError } from '../control/account/accountError.ts'
import { createApiKey } from '../lib/secrets/apiKey.ts'
import { hashApiKey } from '../lib/secrets/hashApiKey.ts'
import { openKey } from '../lib/secrets/sealKey.ts'
import { storeKey } from '../lib/secrets/storeKey.ts'
import type { Network, NetworkDetails } from '../lib/network.ts'
import { createId } from '../storage/createId.ts'
import type { Storage } from '../storage/openStorage.ts'
import type { ServerSecrets } from './readServerSecrets.ts'

/** An account with an app and at most one API key for each network, including their ids and secrets. */
export interface ProvidedAccount {
  readonly account: { readonly email: string; readonly password: string }
  readonly app: { readonly id: string; readonly apiKey: string }
  readonly keys: Readonly<Record<Network, { readonly id: string; readonly apiKey: string }>>
}

/** Settings of the provided app. */
export interface ProvideOptions {
  /** The networks of the service. */
  readonly networks: Readonly<Record<Network, NetworkDetails>>
  /** How many apps an account may have. */
  readonly maxApps: number
}

interface Parts {
  readonly storage: Storage
  readonly accounts: Accounts
  readonly secrets: ServerSecrets
  readonly now: () => number
}

const appName = 'Example app'
const maxNameAttempts = 20

const findOrCreateUser = async (
  { accounts }: Parts,
  { email, password }: ProvidedAccount['account'],
): Promise<string> => {
  const known = await accounts.operator.findUser({ email })
  if (known !== undefined) return known.id
  const created = await accounts.operator.addUser({ email, password, role: 'operator' })
  if (isAccountError(created)) throw new Error(`the account cannot be created: ${created.message}`)
  return created.id
}

/** Decrypts a stored key, if it has a sealed copy. */
const revealKey = async (
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

/** Finds what a key gives access to, if it is an active key of this user. */
const findActiveAccess = async ({ storage }: Parts, apiKey: string, userId: string) => {
  const access = await storage.findAccess(hashApiKey(apiKey))
  return access?.user.id === userId && access.keyState === 'active' && !access.old ? access : undefined
}

/** Enables all networks for an app that was created when the service had others. */
const enableNetworks = async (
  { storage }: Parts,
  { id, userId, networks }: Pick<ProvideOptions, 'networks'> & { id: string; userId: string },
): Promise<void> => {
  const app = await storage.apps.find({ id, userId })
  if (app === undefined || Object.keys(networks).every((network) => app.networks.includes(network))) return
  const all = [...new Set([...app.networks, ...Object.keys(networks)])]
  await storage.apps.edit({ id, userId, details: { networks: all } })
}

const provideApp = async (
  parts: Parts,
  { app, userId, networks, maxApps }: ProvideOptions & { app: ProvidedAccount['app']; userId: string },
): Promise<ProvidedAccount['app']> => {
  const { storage, secrets, now } = parts
  const access = await findActiveAccess(parts, app.apiKey, userId)
  if (access?.app) {
    await enableNetworks(parts, { id: access.app.id, userId, networks })
    return { id: access.app.id, apiKey: app.apiKey }
  }
  // The app's key may have been rotated since.
  const key = await storage.keys.findByApp({ appId: app.id, userId })
  const current = key && (await revealKey(parts, { id: key.id, userId }))
  if (current !== undefined) {
    await enableNetworks(parts, { id: app.id, userId, networks })
    return { id: app.id, apiKey: current }
  }
  const isFree = (await storage.findAccess(hashApiKey(app.apiKey))) === undefined
  const apiKey = isFree ? app.apiKey : createApiKey('app')
  for (let attempt = 1; attempt <= maxNameAttempts; attempt += 1) {
    const created = await storage.apps.create({
      userId,
      details: {
        name: attempt === 1 ? appName : `${appName} ${attempt}`,
        description: '',
        useCase: 'Other',
        chain: Object.values(networks)[0]?.chain ?? '',
        services: ['Node API'],
        networks: Object.keys(networks),
      },
      key: storeKey(apiKey, { owner: { id: createId('key'), userId }, secret: secrets[0] }),
      max: Math.max(maxApps, 1),
      now: now(),
    })
    if (typeof created !== 'string') return { id: created.id, apiKey }
    if (created !== 'nameTaken') break
  }
  throw new Error('the app cannot be created: the account has the maximum number of apps')
}

const provideKey = async (
  parts: Parts,
  {
    network,
    kind,
    key,
    userId,
  }: { network: Network; kind: 'testnet' | 'mainnet'; key: { id: string; apiKey: string }; userId: string },
): Promise<{ id: string; apiKey: string } | undefined> => {
  const { storage, secrets, now } = parts
  const access = await findActiveAccess(parts, key.apiKey, userId)
  if (access !== undefined) return { id: access.keyId, apiKey: key.apiKey }
  // The key may have been rotated, or revoked and replaced by another one.
  const userKeys = (await storage.keys.listApiKeys(userId)).filter((one) => one.network === network)
  for (const { id } of userKeys.toSorted((one) => (one.id === key.id ? -1 : 1))) {
    const apiKey = await revealKey(parts, { id, userId })
    if (apiKey !== undefined) return { id, apiKey }
  }
  const isFree = (await storage.findAccess(hashApiKey(key.apiKey))) === undefined
  const apiKey = isFree ? key.apiKey : createApiKey(kind)
  const stored = storeKey(apiKey, { owner: { id: createId('key'), userId }, secret: secrets[0] })
  const created = await storage.keys.createApiKey({
    userId,
    name: `Example key, ${network}`,
    description: '',
    network,
    key: { ...stored, kind },
    now: now(),
  })
  return typeof created === 'string' ? undefined : { id: created.id, apiKey }
}

/**
 * Ensures that an account exists, with an app on all networks of the service, and the wanted API keys. If a key was rotated or revoked, the current
 * key is returned instead.
 * @param wanted - The account, and the keys to create if they do not exist.
 * @returns The account, with the current ids and keys. Keys that do not fit, because the account has the maximum number, are left out.
 */
export const provideAccount = async (
  parts: Parts,
  wanted: ProvidedAccount,
  options: ProvideOptions,
): Promise<ProvidedAccount> => {
  const userId = await findOrCreateUser(parts, wanted.account)
  const app = await provideApp(parts, { ...options, app: wanted.app, userId })
  const keys: Record<Network, { readonly id: string; readonly apiKey: string }> = {}
  // In sequence: SQLite has one writer. A user has at most four keys.
  for (const [network, key] of Object.entries(wanted.keys)) {
    const kind = options.networks[network]?.testnet === true ? 'testnet' : 'mainnet'
    const provided = await provideKey(parts, { network, kind, key, userId })
    if (provided !== undefined) keys[network] = provided
  }
  return { account: wanted.account, app, keys }
}
