import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { EndpointUrlOptions } from '@keyrail/core'

const localEnv = new URL('../.keyrail/local.env', import.meta.url)

/** Whether the environment says where to call. */
export function isAddressGiven(): boolean {
  const { env } = process
  return Boolean(env['KEYRAIL_BASE_URL'] || env['KEYRAIL_RPC_URL'] || env['KEYRAIL_URL'])
}

/**
 * Where an example calls: what the environment says, and without that the service that `npm start` runs on this machine.
 *
 * `KEYRAIL_BASE_URL` and `KEYRAIL_API_KEY` name an app's address, `KEYRAIL_RPC_URL` and `KEYRAIL_API_KEY` an API key's, `KEYRAIL_URL` a whole one.
 */
export function address(): EndpointUrlOptions {
  const isGiven = isAddressGiven()
  if (!isGiven && !existsSync(localEnv)) {
    console.error(
      'No service runs here. Start one with `npm start` at the top of the workspace, or set KEYRAIL_BASE_URL',
    )
    console.error('and KEYRAIL_API_KEY to an address of yours.')
    process.exit(2)
  }
  // Never a part of one and a part of the other: a key goes to the service that it belongs to.
  const from = isGiven ? process.env : parseEnv(readFileSync(localEnv, 'utf8'))
  const apiKey = from['KEYRAIL_API_KEY'] ?? ''
  if (from['KEYRAIL_URL']) return { url: from['KEYRAIL_URL'] }
  if (from['KEYRAIL_RPC_URL']) return { rpcUrl: from['KEYRAIL_RPC_URL'], apiKey }
  return { baseUrl: from['KEYRAIL_BASE_URL'] ?? '', apiKey }
}
