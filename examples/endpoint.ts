import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { EndpointUrlOptions } from '@keyrail/core'

const localEnv = new URL('../.keyrail/local.env', import.meta.url)

/** Whether environment variables set the endpoint. */
export function isEndpointSet(): boolean {
  const { env } = process
  return Boolean(env['KEYRAIL_BASE_URL'] || env['KEYRAIL_RPC_URL'] || env['KEYRAIL_URL'])
}

/**
 * Returns the endpoint that an example calls: the one set by environment variables, or else the service that `npm start` runs on this machine.
 *
 * Set `KEYRAIL_BASE_URL` and `KEYRAIL_API_KEY` for an app, `KEYRAIL_RPC_URL` and `KEYRAIL_API_KEY` for an API key, or `KEYRAIL_URL` for a full URL.
 */
export function getEndpoint(): EndpointUrlOptions {
  const isSet = isEndpointSet()
  if (!isSet && !existsSync(localEnv)) {
    console.error(
      'No service is running. Start one with `npm start` at the top of the workspace, or set KEYRAIL_BASE_URL',
    )
    console.error('and KEYRAIL_API_KEY to use another one.')
    process.exit(2)
  }
  // Never mix the two sources: a key must be sent only to its own service.
  const from = isSet ? process.env : parseEnv(readFileSync(localEnv, 'utf8'))
  const apiKey = from['KEYRAIL_API_KEY'] ?? ''
  if (from['KEYRAIL_URL']) return { url: from['KEYRAIL_URL'] }
  if (from['KEYRAIL_RPC_URL']) return { rpcUrl: from['KEYRAIL_RPC_URL'], apiKey }
  return { baseUrl: from['KEYRAIL_BASE_URL'] ?? '', apiKey }
}
