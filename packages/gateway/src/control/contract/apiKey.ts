import { z } from 'zod'
import type { Network } from '../../lib/network.ts'
import { keyFacts } from './keyState.ts'
import type { KeyFacts } from './keyState.ts'
import { networkName } from './networks.ts'
import { descriptionText, nameText, timeText, versionNumber } from './texts.ts'

/** An API key, masked. */
export interface ApiKeyView extends KeyFacts {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly network: Network
  /** As in `https://rpc.example.org/testnet/…WXYZ`. */
  readonly address: string
  readonly revokedAt: string | null
  /** Moves with every change; a change names the version that it is a change of. */
  readonly version: number
}

/** The account's API keys that are not revoked, and how many there can be. */
export interface ApiKeysView {
  readonly items: readonly ApiKeyView[]
  readonly max: number
}

/** An API key itself, shown once, or when it was asked for. A secret. */
export interface ApiKeySecret {
  readonly apiKey: string
  readonly address: string
}

/** What makes an API key. */
export interface CreateApiKeyBody {
  /** 1 to 64 characters. */
  readonly name: string
  /** Is never changed. */
  readonly network: Network
  /** Up to 500 characters. @default '' */
  readonly description?: string
  /** When it ends; `null` for never. @default null */
  readonly expiresAt?: string | null
}

/** What changes of an API key; the rest stays. */
export interface EditApiKeyBody {
  /** The version that was seen: where it has moved on, nothing is changed and the answer is 409. */
  readonly version: number
  readonly name?: string
  readonly description?: string
  /** `null` for never. */
  readonly expiresAt?: string | null
}

/** @see ApiKeyView */
export const apiKeyView: z.ZodType<ApiKeyView> = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    network: networkName,
    ...keyFacts,
    address: z.string(),
    revokedAt: timeText.nullable(),
    version: z.int(),
  })
  .meta({ id: 'ApiKey' })

/** @see ApiKeysView */
export const apiKeysView: z.ZodType<ApiKeysView> = z.strictObject({ items: z.array(apiKeyView), max: z.int() })

/** @see ApiKeySecret */
export const apiKeySecret: z.ZodType<ApiKeySecret> = z
  .strictObject({ apiKey: z.string(), address: z.string() })
  .meta({ id: 'ApiKeySecret' })

/** @see CreateApiKeyBody */
export const createApiKeyBody: z.ZodType<CreateApiKeyBody, CreateApiKeyBody> = z.strictObject({
  name: nameText,
  network: networkName,
  description: descriptionText.exactOptional(),
  expiresAt: timeText.nullable().exactOptional(),
})

/** @see EditApiKeyBody */
export const editApiKeyBody: z.ZodType<EditApiKeyBody, EditApiKeyBody> = z.strictObject({
  version: versionNumber,
  name: nameText.exactOptional(),
  description: descriptionText.exactOptional(),
  expiresAt: timeText.nullable().exactOptional(),
})
