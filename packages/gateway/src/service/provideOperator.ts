import { randomBytes, randomUUID } from 'node:crypto'
import { isAccountError } from '../control/account/accountError.ts'
import type { Network } from '../lib/network.ts'
import { createApiKey } from '../lib/secrets/apiKey.ts'
import { getAppUrl } from '../proxy/http/rpcUrls.ts'
import type { Listening, Service } from './service.ts'

/** The first operator of a service, and what is needed to use it. */
export interface FirstOperator {
  readonly email: string
  /** A link to set the password, which works once and for a day. A secret. */
  readonly link: string
  /** The URL of the first app on each network, with its key. Secrets. */
  readonly urls: Readonly<Record<Network, string>>
}

/** Nobody else can have this address: no email is ever delivered to the domain. */
const email = 'operator@keyrail.test'

/**
 * Creates an operator, and an app with a key on all networks, if the service has no accounts.
 * @param networks - The networks of the service.
 * @returns `undefined` if it has accounts.
 */
export const provideOperator = async (
  service: Pick<Service, 'accounts' | 'provideAccount'>,
  { url, siteUrl }: Pick<Listening, 'url' | 'siteUrl'>,
  networks: readonly Network[],
): Promise<FirstOperator | undefined> => {
  const { operator } = service.accounts
  if ((await operator.listUsers({ limit: 1 })).length > 0) return undefined
  // The link replaces the password, which nobody knows.
  const account = { email, password: randomBytes(18).toString('base64url') }
  const wanted = { account, app: { id: randomUUID(), apiKey: createApiKey('app') }, keys: {} }
  const { app } = await service.provideAccount(wanted)
  const user = await operator.findUser({ email })
  const link = user && (await operator.resetLink({ id: user.id }))
  if (link === undefined || isAccountError(link)) throw new Error('the link of the first operator cannot be created')
  return {
    email,
    link: `${siteUrl}/reset-password#${link.text}`,
    urls: Object.fromEntries(networks.map((network) => [network, getAppUrl(url, network, app.apiKey)])),
  }
}
