import { z } from 'zod'
import { serviceName, serviceNames, useCase } from './deployment.ts'
import { confirmation, confirmationEdit } from './confirmation.ts'
import { keyDetails } from './keyState.ts'
import { limitsView, ownLimits } from './limits.ts'
import { network, perNetwork } from './networks.ts'
import { pageMembers, pageOf } from './page.ts'
import { recording, recordingEdit } from './recording.ts'
import { audienceText, descriptionText, nameText, searchText, timeText, versionNumber } from './texts.ts'

const areUnique = (values: readonly unknown[]): boolean => new Set(values).size === values.length
const services = z.array(serviceName).refine(areUnique, { error: 'must not contain duplicates' })
const someServices = services.refine((names) => names.length > 0, {
  error: `must contain at least one of ${serviceNames.join(', ')}`,
})
const networks = z
  .array(network)
  .max(1_000, { error: 'must have at most 1000 networks' })
  .refine(areUnique, { error: 'must not contain duplicates' })
const lifetimeError = 'must be a whole number of seconds from 1 to 31536000'
const lifetime = z
  .int({ error: lifetimeError })
  .min(1, { error: lifetimeError })
  .max(31_536_000, { error: lifetimeError })
const chain = z.string().max(64, { error: 'must have at most 64 characters' })

export const jwtSettingsView = z
  .strictObject({
    audience: z.string().nullable().describe('The value that `aud` must equal or contain; `null` for any.'),
    maxLifetimeS: z.int().describe('How far in the future `exp` may be, in seconds.'),
  })
  .describe('Requirements of an app for JWTs, in addition to a valid signature.')

export const appView = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    useCase,
    chain: z.string().describe('The main chain, as in `GET /api/networks`. `networks` can be of other chains too.'),
    services: z.array(serviceName),
    networks: z.array(network).describe('The networks that its key is enabled for.'),
    requireJwt: z.boolean().describe("Whether each request needs a JWT signed by one of the app's JWT keys."),
    jwt: jwtSettingsView,
    ...recording,
    ...confirmation,
    ownLimits: ownLimits.nullable().describe('Limits set by the owner; `null` if there are none.'),
    limits: limitsView.describe("The limits in effect: the service's, or those that the operator or owner has set."),
    key: z.strictObject({
      id: z.string(),
      ...keyDetails,
      urls: perNetwork.describe('The endpoints, such as `https://rpc.example.org/testnet/v2/…WXYZ`.'),
    }),
    version: z
      .int()
      .describe('Increases with every change of the app, its key and its lists. Send it back with an edit.'),
    createdAt: timeText,
  })
  .meta({ id: 'App', description: 'An app, with its key masked.' })

export const appSecret = z.strictObject({ apiKey: z.string(), urls: perNetwork }).meta({
  id: 'AppSecret',
  description: "An app's key in plain text. A secret: shown when it is created or rotated, and when it is revealed.",
})

export const newAppView = z
  .strictObject({ app: appView, ...appSecret.shape })
  .describe('An app, and its key in plain text. A secret.')

export const appsView = pageOf(appView)
  .extend({
    total: z.int().describe('The number of apps on all pages.'),
    free: z
      .int()
      .describe('How many more apps the account can create today. An app that was deleted today still counts.'),
  })
  .describe('A page of apps.')

export const createAppBody = z
  .strictObject({
    name: nameText.describe("1 to 64 characters, unique among the account's apps regardless of letter case."),
    description: descriptionText.exactOptional().describe("Up to 500 characters. @default ''"),
    useCase,
    chain: chain.describe('The main chain, as in `GET /api/networks`. `networks` can be of other chains too.'),
    services: someServices.describe('At least one.'),
    networks: networks.exactOptional().describe('@default all networks of the chain'),
    expiresAt: timeText
      .nullable()
      .exactOptional()
      .describe('When its key expires; `null` for no expiry. @default null'),
  })
  .describe('Creates an app.')

export const editAppBody = z
  .strictObject({
    version: versionNumber.describe(
      'The version you read. If the app has changed since, the response is 409 and nothing changes.',
    ),
    name: nameText.exactOptional(),
    description: descriptionText.exactOptional(),
    useCase: useCase.exactOptional(),
    services: services.exactOptional().describe("Without `Node API`, the app's requests are rejected."),
    networks: networks.exactOptional(),
    requireJwt: z.boolean().exactOptional(),
    jwt: z
      .strictObject({
        audience: audienceText.nullable().exactOptional().describe('Up to 200 characters; `null` for any.'),
        maxLifetimeS: lifetime
          .nullable()
          .exactOptional()
          .describe('1 to 31,536,000 (a year); `null` for the default, one day.'),
      })
      .exactOptional(),
    ...recordingEdit,
    ...confirmationEdit,
    limits: ownLimits
      .nullable()
      .exactOptional()
      .describe("`null` removes the owner's limits. No limit can exceed the account's."),
  })
  .describe('Changes an app. Fields that are left out stay the same.')

export const appsQuery = z
  .strictObject({
    ...pageMembers,
    search: searchText.exactOptional().describe('Part of the name, ignoring letter case.'),
    name: searchText
      .exactOptional()
      .describe('The whole name, ignoring letter case: finds out whether a name is taken.'),
  })
  .describe('Filters the apps.')

export const deleteAppBody = z
  .strictObject({ name: z.string().describe("The app's name.") })
  .describe('Confirms the deletion of an app.')

export const keyExpiryBody = z
  .strictObject({
    version: versionNumber
      .exactOptional()
      .describe(
        "The app's version that you read. If the app has changed since, the response is 409 and nothing changes. @default any version",
      ),
    expiresAt: timeText.nullable().describe('`null` for no expiry.'),
  })
  .describe('Sets when a key expires.')
