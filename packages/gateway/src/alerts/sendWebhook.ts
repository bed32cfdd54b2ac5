import { lookup as lookUpHost } from 'node:dns'
import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, request } from 'undici'
import { isPublicIp } from '../lib/ip/isPublicIp.ts'
import { signWebhook } from './webhookSecret.ts'

/** A request to a webhook. */
export interface WebhookRequest {
  readonly url: string
  /** The same for all attempts. */
  readonly id: string
  readonly body: string
  /** Sign the request, the newest first. */
  readonly secrets: readonly string[]
}

/** How an attempt ended. */
export interface WebhookResult {
  readonly ok: boolean
  /** Such as `HTTP 200`, `timeout`, `ECONNREFUSED` or `privateAddress`. */
  readonly result: string
  /** The private address that the name resolves to. Only operators may see it: the name can be one that only the service's network knows. */
  readonly address?: string
}

/** How requests to webhooks are sent. */
export interface SendWebhookOptions {
  /** Allows plain http, and addresses that are not of the public internet. */
  readonly allowPrivate: boolean
  /** Milliseconds since 1970. */
  readonly now: number
  /** How long the whole request may take, in milliseconds. @default 10_000 */
  readonly timeoutMs?: number
}

const defaultTimeoutMs = 10_000
const maxUrlLength = 2_000
const privateAddress = 'privateAddress'

/**
 * Finds what is wrong with the URL of a webhook.
 * @returns What is wrong and how to fix it, for a message after the field's name; `undefined` if nothing is.
 */
export const findWebhookUrlProblem = (
  text: string,
  { allowPrivate }: Pick<SendWebhookOptions, 'allowPrivate'>,
): string | undefined => {
  const url = URL.parse(text)
  const isAllowed = url?.protocol === 'https:' || (allowPrivate && url?.protocol === 'http:')
  if (url === null || !isAllowed || text.length > maxUrlLength)
    return `must be an ${allowPrivate ? 'http or https' : 'https'} URL of at most ${maxUrlLength} characters`
  if (`${url.username}${url.password}${url.hash}` !== '') return 'must have no user, no password and no fragment'
  const host = getHost(url)
  const isLocal = host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublicIp(host))
  return isLocal && !allowPrivate
    ? 'must be a public address: this one is of a private network or of this machine. An operator can allow it with `webhooks.allowPrivateAddresses` in the config'
    : undefined
}

/** The host without the brackets of IPv6. */
const getHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

type Respond = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/** Looks a host up like Node, and fails if one of its addresses is not public. The connection uses the address that was checked. */
const lookUpPublic = (host: string, options: LookupOptions, respond: Respond): void => {
  lookUpHost(host, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? []
    if (error !== null || first === undefined) return respond(error ?? new Error('no address'), '')
    const hidden = addresses.find(({ address }) => !isPublicIp(address))
    if (hidden !== undefined)
      return respond(
        Object.assign(new Error('not a public address'), { code: privateAddress, address: hidden.address }),
        '',
      )
    if (options.all === true) respond(null, addresses)
    else respond(null, first.address, first.family)
  })
}

interface ErrorDetails {
  readonly code?: unknown
  readonly address?: unknown
}

const toFailure = (error: unknown): WebhookResult => {
  const { name, cause } = error as { name?: unknown; cause?: ErrorDetails }
  if (name === 'TimeoutError' || name === 'AbortError') return { ok: false, result: 'timeout' }
  const { code, address }: ErrorDetails = cause?.code === undefined ? (error as ErrorDetails) : cause
  if (code === privateAddress && typeof address === 'string') return { ok: false, result: code, address }
  return { ok: false, result: typeof code === 'string' && /^[A-Za-z_0-9]{1,60}$/.test(code) ? code : 'failed' }
}

/**
 * Sends a signed event to a webhook, over a connection of its own. Redirects are not followed, and the response is not read. Never rejects.
 *
 * Users choose the URL, so it must not reach what only this service can reach: unless the operator allows it, the request goes only to public
 * addresses. The address is checked when the connection is opened, so a name whose address changes in between is of no use.
 */
export const sendWebhook = async (
  { url, id, body, secrets }: WebhookRequest,
  { allowPrivate, now, timeoutMs = defaultTimeoutMs }: SendWebhookOptions,
): Promise<WebhookResult> => {
  // Addresses are not looked up, so they are checked here. The config may have changed since the webhook was created.
  const problem = findWebhookUrlProblem(url, { allowPrivate })
  if (problem !== undefined) return { ok: false, result: privateAddress }
  const connect = { timeout: timeoutMs, ...(allowPrivate ? {} : { lookup: lookUpPublic }) }
  const agent = new Agent({ connect, pipelining: 0, maxHeaderSize: 16_384 })
  try {
    const response = await request(url, {
      method: 'POST',
      dispatcher: agent,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Keyrail-Webhooks/1',
        ...signWebhook({ id, body }, { secrets, now }),
      },
      body,
      signal: AbortSignal.timeout(timeoutMs),
    })
    response.body.on('error', () => {
      // It is destroyed on purpose.
    })
    response.body.destroy()
    const { statusCode } = response
    return { ok: statusCode >= 200 && statusCode < 300, result: `HTTP ${statusCode}` }
  } catch (error) {
    return toFailure(error)
  } finally {
    void agent.destroy().catch(() => {
      // Nothing depends on it.
    })
  }
}
