import { z } from 'zod'
import type { Network } from '../../lib/network.ts'
import { serviceNames, useCases } from './deployment.ts'
import type { ServiceName, UseCase } from './deployment.ts'
import { keyDetails } from './keyState.ts'
import type { KeyDetails } from './keyState.ts'
import { limitsView, ownLimits } from './limits.ts'
import type { LimitsView, OwnLimits } from './limits.ts'
import { networkName, perNetwork } from './networks.ts'
import { pageMembers } from './page.ts'
import type { Page, PageQuery } from './page.ts'
import { audienceText, descriptionText, nameText, searchText, timeText, versionNumber } from './texts.ts'

/** Requirements of an app for JWTs, in addition to a valid signature. */
export interface JwtSettingsView {
  /** The value that `aud` must equal or contain; `null` for any. */
  readonly audience: string | null
  /** How far in the future `exp` may be, in seconds. */
  readonly maxLifetimeS: number
}

/** An app, with its key masked. */
export interface AppView {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly useCase: UseCase
  /** The chain, as in `GET /api/networks`. */
  readonly chain: string
  readonly services: readonly ServiceName[]
  /** The networks that its key is enabled for. */
  readonly networks: readonly Network[]
  /** Whether each request needs a JWT signed by one of the app's JWT keys. */
  readonly requireJwt: boolean
  readonly jwt: JwtSettingsView
  /** Whether the request log records excerpts of params and responses, for 24 hours. */
  readonly recordDetails: boolean
  /** Limits set by the owner; `null` if there are none. */
  readonly ownLimits: OwnLimits | null
  /** The limits in effect: the service's, or those that the operator or owner has set. */
  readonly limits: LimitsView
  readonly key: KeyDetails & {
    readonly id: string
    /** The endpoints, such as `https://rpc.example.org/testnet/v2/…WXYZ`. */
    readonly urls: Readonly<Record<Network, string>>
  }
  /** Increases with every change of the app, its key and its lists. Send it back with an edit. */
  readonly version: number
  readonly createdAt: string
}

/** An app's key in plain text. A secret: shown when it is created or rotated, and when it is revealed. */
export interface AppSecret {
  readonly apiKey: string
  readonly urls: Readonly<Record<Network, string>>
}

/** Creates an app. */
export interface CreateAppBody {
  /** 1 to 64 characters, unique among the account's apps regardless of letter case. */
  readonly name: string
  /** Up to 500 characters. @default '' */
  readonly description?: string
  readonly useCase: UseCase
  /** The chain, as in `GET /api/networks`. */
  readonly chain: string
  /** At least one. */
  readonly services: readonly ServiceName[]
  /** @default all networks of the chain */
  readonly networks?: readonly Network[]
  /** When its key expires; `null` for no expiry. @default null */
  readonly expiresAt?: string | null
}

/** Changes an app. Fields that are left out stay the same. */
export interface EditAppBody {
  /** The version you read. If the app has changed since, the response is 409 and nothing changes. */
  readonly version: number
  readonly name?: string
  readonly description?: string
  readonly useCase?: UseCase
  /** Without `Node API`, the app's requests are rejected. */
  readonly services?: readonly ServiceName[]
  readonly networks?: readonly Network[]
  readonly requireJwt?: boolean
  readonly jwt?: {
    /** Up to 200 characters; `null` for any. */
    readonly audience?: string | null
    /** 1 to 31,536,000 (a year); `null` for the default, one day. */
    readonly maxLifetimeS?: number | null
  }
  readonly recordDetails?: boolean
  /** `null` removes the owner's limits. No limit can exceed the account's. */
  readonly limits?: OwnLimits | null
}

/** A page of apps. */
export interface AppsView extends Page<AppView> {
  /** The number of apps on all pages. */
  readonly total: number
  /** How many more apps the account can create today. An app that was deleted today still counts. */
  readonly free: number
}

/** Filters the apps. */
export interface AppsQuery extends PageQuery {
  /** Part of the name, ignoring letter case. */
  readonly search?: string
  /** The whole name, ignoring letter case: finds out whether a name is taken. */
  readonly name?: string
}

/** Confirms the deletion of an app. */
export interface DeleteAppBody {
  /** The app's name. */
  readonly name: string
}

/** Sets when a key expires. */
export interface KeyExpiryBody {
  /** The app's version that you read. If the app has changed since, the response is 409 and nothing changes. @default any version */
  readonly version?: number
  /** `null` for no expiry. */
  readonly expiresAt: string | null
}

const areUnique = (values: readonly unknown[]): boolean => new Set(values).size === values.length
const useCase = z.enum(useCases)
const services = z.array(z.enum(serviceNames)).refine(areUnique, { error: 'must not contain duplicates' })
const someServices = services.refine((names) => names.length > 0, {
  error: `must contain at least one of ${serviceNames.join(', ')}`,
})
const networks = z
  .array(networkName)
  .max(1_000, { error: 'must have at most 1000 networks' })
  .refine(areUnique, { error: 'must not contain duplicates' })
const lifetimeError = 'must be a whole number of seconds from 1 to 31536000'
const lifetime = z
  .int({ error: lifetimeError })
  .min(1, { error: lifetimeError })
  .max(31_536_000, { error: lifetimeError })
const chain = z.string().max(64, { error: 'must have at most 64 characters' })

/** The schema of `AppView`. */
export const appView: z.ZodType<AppView> = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    useCase,
    chain: z.string(),
    services: z.array(z.enum(serviceNames)),
    networks: z.array(z.string()),
    requireJwt: z.boolean(),
    jwt: z.strictObject({ audience: z.string().nullable(), maxLifetimeS: z.int() }),
    recordDetails: z.boolean(),
    ownLimits: ownLimits.nullable(),
    limits: limitsView,
    key: z.strictObject({ id: z.string(), ...keyDetails, urls: perNetwork }),
    version: z.int(),
    createdAt: timeText,
  })
  .meta({ id: 'App' })

/** The schema of `AppSecret`. */
export const appSecret: z.ZodType<AppSecret> = z
  .strictObject({ apiKey: z.string(), urls: perNetwork })
  .meta({ id: 'AppSecret' })

/** The schema of `CreateAppBody`. */
export const createAppBody: z.ZodType<CreateAppBody, CreateAppBody> = z.strictObject({
  name: nameText,
  description: descriptionText.exactOptional(),
  useCase,
  chain,
  services: someServices,
  networks: networks.exactOptional(),
  expiresAt: timeText.nullable().exactOptional(),
})

/** The schema of `EditAppBody`. */
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
  recordDetails: z.boolean().exactOptional(),
  limits: ownLimits.nullable().exactOptional(),
})

/** The schema of `AppsQuery`. */
export const appsQuery: z.ZodType<AppsQuery, unknown> = z.strictObject({
  ...pageMembers,
  search: searchText.exactOptional(),
  name: searchText.exactOptional(),
})

/** The schema of `DeleteAppBody`. */
export const deleteAppBody: z.ZodType<DeleteAppBody, DeleteAppBody> = z.strictObject({ name: z.string() })

/** The schema of `KeyExpiryBody`. */
export const keyExpiryBody: z.ZodType<KeyExpiryBody, KeyExpiryBody> = z.strictObject({
  version: versionNumber.exactOptional(),
  expiresAt: timeText.nullable(),
})
