import { z } from 'zod'
import { confirmation, confirmationEdit } from './confirmation.ts'
import { keyDetails } from './keyState.ts'
import { network } from './networks.ts'
import { recording, recordingEdit } from './recording.ts'
import { descriptionText, nameText, timeText, versionNumber } from './texts.ts'

export const apiKeyView = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    network,
    ...keyDetails,
    url: z.string().describe('The endpoint, such as `https://rpc.example.org/testnet/…WXYZ`.'),
    revokedAt: timeText.nullable(),
    ...recording,
    ...confirmation,
    version: z.int().describe('Increases with every change. Send it back with an edit.'),
  })
  .meta({ id: 'ApiKey', description: 'An API key, masked.' })

export const apiKeysView = z
  .strictObject({ items: z.array(apiKeyView), max: z.int() })
  .describe("The account's API keys that are not revoked, and their maximum number.")

export const apiKeySecret = z.strictObject({ apiKey: z.string(), url: z.string() }).meta({
  id: 'ApiKeySecret',
  description: 'An API key in plain text. A secret: shown when it is created or rotated, and when it is revealed.',
})

export const newApiKeyView = z
  .strictObject({ key: apiKeyView, ...apiKeySecret.shape })
  .describe('An API key, and the key in plain text. A secret.')

export const createApiKeyBody = z
  .strictObject({
    name: nameText.describe('1 to 64 characters.'),
    network: network.describe('Cannot be changed later.'),
    description: descriptionText.exactOptional().describe("Up to 500 characters. @default ''"),
    expiresAt: timeText.nullable().exactOptional().describe('Expiry time; `null` for no expiry. @default null'),
  })
  .describe('Creates an API key.')

export const editApiKeyBody = z
  .strictObject({
    version: versionNumber.describe(
      'The version you read. If the key has changed since, the response is 409 and nothing changes.',
    ),
    name: nameText.exactOptional(),
    description: descriptionText.exactOptional(),
    expiresAt: timeText.nullable().exactOptional().describe('`null` for no expiry.'),
    ...recordingEdit,
    ...confirmationEdit,
  })
  .describe('Changes an API key. Fields that are left out stay the same.')
