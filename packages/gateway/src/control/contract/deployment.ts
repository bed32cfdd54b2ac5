import { z } from 'zod'
import { limitsView } from './limits.ts'
import { network } from './networks.ts'

/** The use cases of apps. */
export const useCases = [
  'Defi',
  'Analytics',
  'Gaming',
  'Wallet',
  'NFT',
  'Payments',
  'Social',
  'Infrastructure',
  'Other',
] as const

export const useCase = z.enum(useCases).describe('A use case of an app.')

/** The services that apps can use. */
export const serviceNames = ['Node API', 'Private transactions'] as const

export const serviceName = z
  .enum(serviceNames)
  .describe(
    'A service that an app can use. With `Private transactions`, its transactions go only to nodes that keep them private.',
  )

export const networkView = z
  .strictObject({
    network,
    chain: z.string(),
    title: z.string(),
    chainId: z.int(),
    symbol: z.string().describe('The symbol of its coin.'),
    testnet: z.boolean().describe('Whether its coin has no value.'),
    aliases: z.array(z.string()).describe('Other names, which its URLs can have too.'),
    explorerUrl: z.string().nullable().describe('The URL of a block explorer; `null` if none is known.'),
    url: z.string().describe('Pass it to the SDK as `baseUrl` for apps, or `rpcUrl` for API keys.'),
  })
  .meta({ id: 'Network', description: 'A network.' })

export const chainView = z
  .strictObject({
    chain: z.string().describe("The value of an app's `chain`."),
    title: z.string(),
    aliases: z.array(z.string()).describe('Other names to search for.'),
  })
  .describe('A chain, which can have several networks.')

const chains = z.array(chainView)

export const networksView = z
  .strictObject({ chains, networks: z.array(networkView) })
  .meta({ id: 'Networks', description: 'The networks of the service, and their chains. Available without logging in.' })

export const deploymentView = z
  .strictObject({
    publicUrl: z.string().describe('The base of all endpoint URLs.'),
    signUp: z.enum(['open', 'invite', 'closed']),
    email: z
      .boolean()
      .describe('Whether the service sends emails: to confirm addresses, to reset passwords and to invite.'),
    passwordLogin: z.boolean().describe('Whether users can log in and sign up by password.'),
    requireSecondFactor: z
      .enum(['operators', 'all'])
      .nullable()
      .describe('Who must have a second factor; `null`: nobody.'),
    singleSignOn: z
      .strictObject({ label: z.string().describe("The provider's name.") })
      .nullable()
      .describe('Log-in with an OpenID Connect provider; `null`: there is none.'),
    reveal: z.boolean().describe('Whether keys can be revealed after they were created.'),
    publishedPackages: z
      .array(z.string())
      .describe(
        "Keyrail's packages that the configured registries have, such as `@keyrail/core`. Others are built from the repository.",
      ),
    requestLog: z.boolean().describe('Whether requests are recorded in the request logs of apps and API keys.'),
    docsUrl: z
      .string()
      .nullable()
      .describe("Where Keyrail's documentation is, without a slash at the end; `null` if the operator has set no URL."),
    chains: chains.describe('The chains of the networks.'),
    networks: z.array(networkView),
    services: z.array(serviceName),
    useCases: z.array(useCase),
    limits: z.strictObject({
      app: limitsView.describe('The default limits of each app.'),
      apiKey: limitsView.describe(
        '`perDay` and `perMonth` are shared by all API keys of an account; `perSecond` and `burst` are for each key.',
      ),
      maxApps: z.int(),
      maxApiKeys: z.int(),
      maxAllowEntriesPerType: z.int(),
      maxJwtKeys: z.int(),
      maxGraceDays: z.int(),
    }),
  })
  .meta({ id: 'Deployment', description: 'Public facts about the service, available without logging in.' })
