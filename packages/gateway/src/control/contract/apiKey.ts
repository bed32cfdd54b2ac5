import { z } from 'zod'
import type { Network } from '../../lib/network.ts'
import { keyDetails } from './keyState.ts'
import type { KeyDetails } from './keyState.ts'
import { networkName } from './networks.ts'
import { descriptionText, nameText, timeText, versionNumber } from './texts.ts'

/** An API key, masked. */
export interface ApiKeyView extends KeyDetails {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly network: Network
  /** The endpoint, such as `https://rpc.example.org/testnet/…WXYZ`. */
  readonly url: string
  readonly revokedAt: string | null
  /** Whether the request log records excerpts of params and responses, for 24 hours. */
  readonly recordDetails: boolean
  /** Increases with every change. Send it back with an edit. */
  readonly version: number
}

/** The account's API keys that are not revoked, and their maximum number. */
export interface ApiKeysView {
  readonly items: readonly ApiKeyView[]
  readonly max: number
}

/** An API key in plain text. A secret: shown when it is created or rotated, and when it is revealed. */
export interface ApiKeySecret {
  readonly apiKey: string
  readonly url: string
}

/** Creates an API key. */
export interface CreateApiKeyBody {
  /** 1 to 64 characters. */
  readonly name: string
  /** Cannot be changed later. */
  readonly network: Network
  /** Up to 500 characters. @default '' */
  readonly description?: string
  /** Expiry time; `null` for no expiry. @default null */
  readonly expiresAt?: string | null
}

/** Changes an API key. Fields that are left out stay the same. */
export interface EditApiKeyBody {
  /** The version you read. If the key has changed since, the response is 409 and nothing changes. */
  readonly version: number
  readonly name?: string
  readonly description?: string
  /** `null` for no expiry. */
  readonly expiresAt?: string | null
  readonly recordDetails?: boolean
}

/** The schema of `ApiKeyView`. */
export const apiKeyView: z.ZodType<ApiKeyView> = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    network: z.string(),
    ...keyDetails,
    url: z.string(),
    revokedAt: timeText.nullable(),
    recordDetails: z.boolean(),
    version: z.int(),
  })
  .meta({ id: 'ApiKey' })

/** The schema of `ApiKeysView`. */
export const apiKeysView: z.ZodType<ApiKeysView> = z.strictObject({ items: z.array(apiKeyView), max: z.int() })

/** The schema of `ApiKeySecret`. */
export const apiKeySecret: z.ZodType<ApiKeySecret> = z
  .strictObject({ apiKey: z.string(), url: z.string() })
  .meta({ id: 'ApiKeySecret' })

/** The schema of `CreateApiKeyBody`. */
export const createApiKeyBody: z.ZodType<CreateApiKeyBody, CreateApiKeyBody> = z.strictObject({
  name: nameText,
  network: networkName,
  description: descriptionText.exactOptional(),
  expiresAt: timeText.nullable().exactOptional(),
})

/** The schema of `EditApiKeyBody`. */
export const editApiKeyBody: z.ZodType<EditApiKeyBody, EditApiKeyBody> = z.strictObject({
  version: versionNumber,
  name: nameText.exactOptional(),
  description: descriptionText.exactOptional(),
  expiresAt: timeText.nullable().exactOptional(),
  recordDetails: z.boolean().exactOptional(),
})
