import { z } from 'zod'
import type { Network } from '../../lib/network.ts'
import { limitsView } from './limits.ts'
import type { LimitsView } from './limits.ts'
import { networkName } from './networks.ts'

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

/** A use case of an app. */
export type UseCase = (typeof useCases)[number]

/** The services that apps can use. */
export const serviceNames = ['Node API'] as const

/** A service that an app can use. */
export type ServiceName = (typeof serviceNames)[number]

/** A chain, which can have several networks. */
export interface ChainView {
  /** The value of an app's `chain`. */
  readonly chain: string
  readonly title: string
  /** Other names to search for. */
  readonly aliases: readonly string[]
}

/** A network. */
export interface NetworkView {
  readonly network: Network
  readonly chain: string
  readonly title: string
  readonly chainId: number
  /** The symbol of its coin. */
  readonly symbol: string
  /** Whether its coin has no value. */
  readonly testnet: boolean
  /** Other names, which its URLs can have too. */
  readonly aliases: readonly string[]
  /** The URL of a block explorer; `null` if none is known. */
  readonly explorerUrl: string | null
  /** Pass it to the SDK as `baseUrl` for apps, or `rpcUrl` for API keys. */
  readonly url: string
}

/** Public facts about the service, available without logging in. */
export interface DeploymentView {
  /** The base of all endpoint URLs. */
  readonly publicUrl: string
  readonly signUp: 'open' | 'invite' | 'closed'
  /** Whether the service sends emails: to confirm addresses, to reset passwords and to invite. */
  readonly email: boolean
  /** Whether users can log in and sign up by password. */
  readonly passwordLogin: boolean
  /** Log-in with an OpenID Connect provider; `null`: there is none. */
  readonly singleSignOn: {
    /** The provider's name. */
    readonly label: string
  } | null
  /** Whether keys can be revealed after they were created. */
  readonly reveal: boolean
  /** Keyrail's packages that the configured registries have, such as `@keyrail/core`. Others are built from the repository. */
  readonly publishedPackages: readonly string[]
  /** Whether requests are recorded in the request logs of apps and API keys. */
  readonly requestLog: boolean
  /** Where Keyrail's documentation is, without a slash at the end; `null` if the operator has set no URL. */
  readonly docsUrl: string | null
  /** The chains of the networks. */
  readonly chains: readonly ChainView[]
  readonly networks: readonly NetworkView[]
  readonly services: readonly ServiceName[]
  readonly useCases: readonly UseCase[]
  readonly limits: {
    /** The default limits of each app. */
    readonly app: LimitsView
    /** `perDay` and `perMonth` are shared by all API keys of an account; `perSecond` and `burst` are for each key. */
    readonly apiKey: LimitsView
    readonly maxApps: number
    readonly maxApiKeys: number
    readonly maxAllowEntriesPerType: number
    readonly maxJwtKeys: number
    readonly maxGraceDays: number
  }
}

/** The schema of `NetworkView`. */
const networkView: z.ZodType<NetworkView> = z
  .strictObject({
    network: networkName,
    chain: z.string(),
    title: z.string(),
    chainId: z.int(),
    symbol: z.string(),
    testnet: z.boolean(),
    aliases: z.array(z.string()),
    explorerUrl: z.string().nullable(),
    url: z.string(),
  })
  .meta({ id: 'Network' })

/** The networks of the service, and their chains. Available without logging in. */
export type NetworksView = Pick<DeploymentView, 'chains' | 'networks'>

const chains = z.array(z.strictObject({ chain: z.string(), title: z.string(), aliases: z.array(z.string()) }))

/** The schema of `NetworksView`. */
export const networksView: z.ZodType<NetworksView> = z
  .strictObject({ chains, networks: z.array(networkView) })
  .meta({ id: 'Networks' })

/** The schema of `DeploymentView`. */
export const deploymentView: z.ZodType<DeploymentView> = z
  .strictObject({
    publicUrl: z.string(),
    signUp: z.enum(['open', 'invite', 'closed']),
    email: z.boolean(),
    passwordLogin: z.boolean(),
    singleSignOn: z.strictObject({ label: z.string() }).nullable(),
    reveal: z.boolean(),
    publishedPackages: z.array(z.string()),
    requestLog: z.boolean(),
    docsUrl: z.string().nullable(),
    chains,
    networks: z.array(networkView),
    services: z.array(z.enum(serviceNames)),
    useCases: z.array(z.enum(useCases)),
    limits: z.strictObject({
      app: limitsView,
      apiKey: limitsView,
      maxApps: z.int(),
      maxApiKeys: z.int(),
      maxAllowEntriesPerType: z.int(),
      maxJwtKeys: z.int(),
      maxGraceDays: z.int(),
    }),
  })
  .meta({ id: 'Deployment' })
