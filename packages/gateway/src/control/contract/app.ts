import { z } from 'zod'
import type { Network } from '../../lib/network.ts'
import { serviceNames, useCases } from './deployment.ts'
import type { ServiceName, UseCase } from './deployment.ts'
import { keyFacts } from './keyState.ts'
import type { KeyFacts } from './keyState.ts'
import { limitsView, ownLimits } from './limits.ts'
import type { LimitsView, OwnLimits } from './limits.ts'
import { networkName, perNetwork } from './networks.ts'
import { pageMembers } from './page.ts'
import type { PageQuery } from './page.ts'
import { audienceText, descriptionText, nameText, searchText, timeText, versionNumber } from './texts.ts'

/** What is asked of an app's tokens beside a good signature. */
export interface JwtSettingsView {
  /** What `aud` must be or hold; `null`: anything. */
  readonly audience: string | null
  /** How far ahead `exp` may lie, in seconds. */
  readonly maxLifetimeS: number
}

/** An app, its key masked. */
export interface AppView {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly useCase: UseCase
  /** The chain's symbol. */
  readonly chain: string
  readonly services: readonly ServiceName[]
  /** Where its key works. */
  readonly networks: readonly Network[]
  /** Whether each call must bring a token that one of its JWT keys has signed. */
  readonly requireJwt: boolean
  readonly jwt: JwtSettingsView
  /** The owner's own limits; `null`: none but the service's. */
  readonly ownLimits: OwnLimits | null
  /** What holds: the service's limits, or what the operator or the owner set in their place. */
  readonly limits: LimitsView
  readonly key: KeyFacts & {
    readonly id: string
    /** As in `https://rpc.example.org/testnet/v2/…WXYZ`. */
    readonly addresses: Readonly<Record<Network, string>>
  }
  /** Moves with every change of the app, its key and its lists; a change names the version that it is a change of. */
  readonly version: number
  readonly createdAt: string
}

/** An app's key itself, shown once, or when it was asked for. A secret. */
export interface AppSecret {
  readonly apiKey: string
  readonly addresses: Readonly<Record<Network, string>>
}

/** What makes an app. */
export interface CreateAppBody {
  /** 1 to 64 characters, unlike the account's other apps' whatever the case. */
  readonly name: string
  /** Up to 500 characters. @default '' */
  readonly description?: string
  readonly useCase: UseCase
  /** The chain's symbol. */
  readonly chain: string
  /** At least one. */
  readonly services: readonly ServiceName[]
  /** @default both */
  readonly networks?: readonly Network[]
  /** When its key ends; `null` for never. @default null */
  readonly expiresAt?: string | null
}

/** What changes of an app; the rest stays. */
export interface EditAppBody {
  /** The version that was seen: where it has moved on, nothing is changed and the answer is 409. */
  readonly version: number
  readonly name?: string
  readonly description?: string
  readonly useCase?: UseCase
  /** Without `Node API` its calls are rejected. */
  readonly services?: readonly ServiceName[]
  readonly networks?: readonly Network[]
  readonly requireJwt?: boolean
  readonly jwt?: {
    /** Up to 200 characters; `null` for anything. */
    readonly audience?: string | null
    /** 1 to 31,536,000 (a year); `null` for a day, as it is where nothing is said. */
    readonly maxLifetimeS?: number | null
  }
  /** `null` takes the owner's own limits away. None can be above what the service allows. */
  readonly limits?: OwnLimits | null
}

/** Which apps. */
export interface AppsQuery extends PageQuery {
  /** A part of the name, whatever its case. */
  readonly search?: string
}

/** What must be typed to delete an app. */
export interface DeleteAppBody {
  /** The app's name. */
  readonly name: string
}

/** When a key ends. */
export interface KeyExpiryBody {
  /** `null` for never. */
  readonly expiresAt: string | null
}

const unlike = (values: readonly unknown[]): boolean => new Set(values).size === values.length
const useCase = z.enum(useCases)
const services = z.array(z.enum(serviceNames)).refine(unlike, { error: 'must name nothing twice' })
const someServices = services.refine((names) => names.length > 0, {
  error: `must name at least one: ${serviceNames.join(', ')}`,
})
const networks = z.array(networkName).refine(unlike, { error: 'must name nothing twice' })
const lifetimeError = 'must be a whole number of seconds from 1 to 31536000'
const lifetime = z
  .int({ error: lifetimeError })
  .min(1, { error: lifetimeError })
  .max(31_536_000, { error: lifetimeError })
const chain = z.string().max(64, { error: 'must have at most 64 characters' })

/** @see AppView */
export const appView: z.ZodType<AppView> = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    useCase,
    chain: z.string(),
    services: z.array(z.enum(serviceNames)),
    networks: z.array(networkName),
    requireJwt: z.boolean(),
    jwt: z.strictObject({ audience: z.string().nullable(), maxLifetimeS: z.int() }),
    ownLimits: ownLimits.nullable(),
    limits: limitsView,
    key: z.strictObject({ id: z.string(), ...keyFacts, addresses: perNetwork }),
    version: z.int(),
    createdAt: timeText,
  })
  .meta({ id: 'App' })

/** @see AppSecret */
export const appSecret: z.ZodType<AppSecret> = z
  .strictObject({ apiKey: z.string(), addresses: perNetwork })
  .meta({ id: 'AppSecret' })

/** @see CreateAppBody */
export const createAppBody: z.ZodType<CreateAppBody, CreateAppBody> = z.strictObject({
  name: nameText,
  description: descriptionText.exactOptional(),
  useCase,
  chain,
  services: someServices,
  networks: networks.exactOptional(),
  expiresAt: timeText.nullable().exactOptional(),
})

/** @see EditAppBody */
export const editAppBody: z.ZodType<EditAppBody, EditAppBody> = z.strictObject({
  version: versionNumber,
  name: nameText.exactOptional(),
  description: descriptionText.exactOptional(),
  useCase: useCase.exactOptional(),
  services: services.exactOptional(),
  networks: networks.exactOptional(),
  requireJwt: z.boolean().exactOptional(),
  jwt: z
    .strictObject({
      audience: audienceText.nullable().exactOptional(),
      maxLifetimeS: lifetime.nullable().exactOptional(),
    })
    .exactOptional(),
  limits: ownLimits.nullable().exactOptional(),
})

/** @see AppsQuery */
export const appsQuery: z.ZodType<AppsQuery, unknown> = z.strictObject({
  ...pageMembers,
  search: searchText.exactOptional(),
})

/** @see DeleteAppBody */
export const deleteAppBody: z.ZodType<DeleteAppBody, DeleteAppBody> = z.strictObject({ name: z.string() })

/** @see KeyExpiryBody */
export const keyExpiryBody: z.ZodType<KeyExpiryBody, KeyExpiryBody> = z.strictObject({ expiresAt: timeText.nullable() })
