import { z } from 'zod'
import type { Network } from '../../lib/network.ts'
import { limitsView } from './limits.ts'
import type { LimitsView } from './limits.ts'
import { networkName } from './networks.ts'

/** What an app can be for. */
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

/** What an app can be for. */
export type UseCase = (typeof useCases)[number]

/** What an app can use. */
export const serviceNames = ['Node API'] as const

/** What an app can use. */
export type ServiceName = (typeof serviceNames)[number]

/** What every caller may know of the service, before logging in too. */
export interface DeploymentView {
  /** Where the service is reached; addresses are built on it. */
  readonly publicUrl: string
  readonly signUp: 'open' | 'invite' | 'closed'
  /** Whether keys can be shown again. */
  readonly reveal: boolean
  readonly chain: {
    readonly name: string
    /** What an app's `chain` is. */
    readonly symbol: string
    /** Other names that people look for it by. */
    readonly aliases: readonly string[]
    readonly networks: readonly {
      readonly network: Network
      readonly chainId: number
      /** The SDK's `baseUrl` for apps and `rpcUrl` for API keys. */
      readonly url: string
    }[]
  }
  readonly services: readonly ServiceName[]
  readonly useCases: readonly UseCase[]
  readonly limits: {
    /** Of each app, where nothing else was agreed. */
    readonly app: LimitsView
    /** Of all API keys of an account together; `perSecond` and `burst` of each. */
    readonly apiKey: LimitsView
    readonly maxApps: number
    readonly maxApiKeys: number
    readonly maxAllowEntriesPerType: number
    readonly maxJwtKeys: number
    readonly maxGraceDays: number
  }
}

/** @see DeploymentView */
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
