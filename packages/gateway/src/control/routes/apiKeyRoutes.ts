import { getApiKeyUrl } from '../../proxy/http/rpcUrls.ts'
import { maxApiKeys } from '../../storage/keys.ts'
import type { Key } from '../../storage/keys.ts'
import { changeWithAudit } from '../changeWithAudit.ts'
import { apiErrors } from '../apiErrors.ts'
import { readExpiry } from '../readExpiry.ts'
import type { ApiError } from '../apiErrors.ts'
import { toApiKeyView, getKeyNetwork } from '../views/toApiKeyView.ts'
import { toNetworkProblem } from '../findNetworkProblems.ts'
import { createKey } from './createKey.ts'
import { revealKey } from './revealKey.ts'
import { dropOldKey, rotateKey } from './rotateKey.ts'
import { confirmBody } from '../contract/account.ts'
import {
  apiKeySecret,
  apiKeyView,
  apiKeysView,
  createApiKeyBody,
  editApiKeyBody,
  newApiKeyView,
} from '../contract/apiKey.ts'
import { rotateBody } from '../contract/keyState.ts'
import type { ApiKeyView } from '../contract/controlApi.d.ts'
import { requireAccountId, route } from '../route.ts'
import type { Caller, ControlParts, Route } from '../route.ts'

const toView = ({ deployment, now }: ControlParts, key: Key): ApiKeyView =>
  toApiKeyView(key, { publicUrl: deployment().publicUrl, now: now() })

const getUrl = ({ deployment }: ControlParts, key: Key, apiKey: string): string =>
  getApiKeyUrl(deployment().publicUrl, getKeyNetwork(key), apiKey)

/** Finds an API key of the account. Keys of apps are not API keys. */
const find = async ({ storage }: ControlParts, caller: Caller, id: string): Promise<Key | undefined> => {
  const key = await storage.keys.find({ id, userId: requireAccountId(caller) })
  return key?.appId === null ? key : undefined
}

const toResult = (
  parts: ControlParts,
  changed: Key | 'revoked' | 'versionMoved' | 'notFound',
): { response: ApiKeyView } | { error: ApiError } => {
  if (changed === 'notFound') return { error: apiErrors.notFound() }
  if (changed === 'revoked') return { error: apiErrors.revoked() }
  if (changed === 'versionMoved') return { error: apiErrors.versionConflict() }
  return { response: toView(parts, changed) }
}

/** The routes of API keys. */
export const apiKeyRoutes: readonly Route[] = [
  route(
    'GET /api/keys',
    {
      summary: 'Lists the API keys that are not revoked, oldest first.',
      access: 'read',
      response: apiKeysView,
    },
    async ({ caller }, parts) => {
      const { storage } = parts
      const userId = requireAccountId(caller)
      const keys = await storage.keys.listApiKeys(userId)
      const max = keys.length + (await storage.keys.countFree(userId))
      return { response: { items: keys.map((key) => toView(parts, key)), max } }
    },
  ),

  route(
    'POST /api/keys',
    {
      summary: 'Creates an API key. The response contains it.',
      description: 'Later, only the reveal route shows it.',
      access: 'keys:write',
      status: 201,
      body: createApiKeyBody,
      response: newApiKeyView,
    },
    async ({ body, caller }, parts) => {
      const { now, deployment } = parts
      const expiry = readExpiry(body.expiresAt ?? null, now())
      const { name, network, description = '' } = body
      const { networks } = deployment()
      const offered = Object.hasOwn(networks, network) ? networks[network] : undefined
      const problems = [
        ...(offered === undefined ? [toNetworkProblem('network', networks)] : []),
        ...('problem' in expiry ? [expiry.problem] : []),
      ]
      if ('problem' in expiry || offered === undefined) return { error: apiErrors.invalid(problems) }
      const userId = requireAccountId(caller)
      const { apiKey, stored } = createKey(parts, { kind: offered.testnet ? 'testnet' : 'mainnet', userId })
      const key = await changeWithAudit(
        parts,
        caller,
        ({ keys }) =>
          keys.createApiKey({ userId, name, description, network, key: stored, expiresAt: expiry.at, now: now() }),
        ({ id }) => ({ action: 'key.create', subject: id, detail: { name, network } }),
      )
      if (key === 'slotsFull')
        return {
          error: apiErrors.tooMany(
            `This account, and those that share its limits, have ${maxApiKeys} API keys, the maximum. Revoke one first.`,
          ),
        }
      if (key === 'notFound') return { error: apiErrors.notLoggedIn() }
      return { response: { key: toView(parts, key), apiKey, url: getUrl(parts, key, apiKey) } }
    },
  ),

  route(
    'GET /api/keys/{keyId}',
    { summary: 'Gets an API key.', access: 'read', response: apiKeyView },
    async ({ params, caller }, parts) => toResult(parts, (await find(parts, caller, params.keyId)) ?? 'notFound'),
  ),

  route(
    'PATCH /api/keys/{keyId}',
    {
      summary: 'Changes an API key, if its version is still the one you read.',
      access: 'keys:write',
      body: editApiKeyBody,
      response: apiKeyView,
    },
    async ({ params, body, caller }, parts) => {
      const { now } = parts
      const { version, expiresAt, ...settings } = body
      const expiry = readExpiry(expiresAt, now())
      if ('problem' in expiry) return { error: apiErrors.invalid([expiry.problem]) }
      const key = await find(parts, caller, params.keyId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const { id, userId } = key
      const { version: _, ...detail } = body
      const changed = await changeWithAudit(
        parts,
        caller,
        ({ keys }) =>
          keys.edit({
            id,
            userId,
            version,
            settings: { ...settings, ...(expiry.at === undefined ? {} : { expiresAt: expiry.at }) },
          }),
        () => ({ action: 'key.edit', subject: id, detail, forget: { kind: 'key', id } }),
      )
      return toResult(parts, changed)
    },
  ),

  route(
    'POST /api/keys/{keyId}/reveal',
    {
      summary: 'Reveals an API key and its endpoint.',
      access: 'reveal',
      confirms: true,
      body: confirmBody,
      response: apiKeySecret,
    },
    async ({ params, caller }, parts) => {
      const key = await find(parts, caller, params.keyId)
      if (key === undefined) return { error: apiErrors.notFound() }
      if (key.state === 'revoked') return { error: apiErrors.revoked() }
      const revealed = await revealKey(parts, caller, key.id)
      if ('error' in revealed) return revealed
      return { response: { apiKey: revealed.apiKey, url: getUrl(parts, key, revealed.apiKey) } }
    },
  ),

  route(
    'POST /api/keys/{keyId}/rotate',
    {
      summary: 'Rotates an API key. The old key keeps working for the given grace period.',
      access: 'keys:write',
      body: rotateBody,
      response: newApiKeyView,
    },
    async ({ params, body, caller }, parts) => {
      const key = await find(parts, caller, params.keyId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const rotated = await rotateKey(parts, caller, { key, body })
      if ('error' in rotated) return rotated
      const { apiKey } = rotated
      return { response: { key: toView(parts, rotated.key), apiKey, url: getUrl(parts, rotated.key, apiKey) } }
    },
  ),

  route(
    'DELETE /api/keys/{keyId}/old',
    {
      summary: 'Ends the grace period of the old key.',
      access: 'keys:write',
      response: apiKeyView,
    },
    async ({ params, caller }, parts) => {
      const key = await find(parts, caller, params.keyId)
      if (key === undefined) return { error: apiErrors.notFound() }
      return toResult(parts, await dropOldKey(parts, caller, key))
    },
  ),

  route(
    'POST /api/keys/{keyId}/revoke',
    {
      summary: 'Revokes an API key permanently. It no longer counts toward the maximum.',
      access: 'keys:write',
      response: apiKeyView,
    },
    async ({ params, caller }, parts) => {
      const { now } = parts
      const key = await find(parts, caller, params.keyId)
      if (key === undefined) return { error: apiErrors.notFound() }
      const { id, userId } = key
      const revoked = await changeWithAudit(
        parts,
        caller,
        async ({ keys }) => {
          if (!(await keys.revoke({ id, userId, now: now() }))) return 'revoked'
          return (await keys.find({ id, userId })) ?? 'notFound'
        },
        () => ({ action: 'key.revoke', subject: id, forget: { kind: 'key', id } }),
      )
      return toResult(parts, revoked)
    },
  ),
]
