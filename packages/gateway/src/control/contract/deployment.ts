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

/** Public facts about the service, available without logging in. */
export interface DeploymentView {
  /** The base of all endpoint URLs. */
  readonly publicUrl: string
  readonly signUp: 'open' | 'invite' | 'closed'
  /** Whether keys can be revealed after they were created. */
  readonly reveal: boolean
  readonly chain: {
    readonly name: string
    /** The value of an app's `chain`. */
    readonly symbol: string
    /** Other names to search for. */
    readonly aliases: readonly string[]
    readonly networks: readonly {
      readonly network: Network
      readonly chainId: number
      /** Pass it to the SDK as `baseUrl` for apps, or `rpcUrl` for API keys. */
      readonly url: string
    }[]
  }
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

/** The schema of `DeploymentView`. */
export const deploymentView: z.ZodType<DeploymentView> = z
  .strictObject({
    publicUrl: z.string(),
    signUp: z.enum(['open', 'invite', 'closed']),
    reveal: z.boolean(),
    chain: z.strictObject({
      name: z.string(),
      symbol: z.string(),
      aliases: z.array(z.string()),
      networks: z.array(z.strictObject({ network: networkName, chainId: z.int(), url: z.string() })),
    }),
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
