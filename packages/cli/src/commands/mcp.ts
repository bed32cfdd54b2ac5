import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { EndpointUrlOptions } from '@keyrail/core'
import type { ReadArguments } from '../arguments/command.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { createControlApiClient } from '../control/controlApi.ts'
import { readToken } from '../control/readCredential.ts'
import { readServiceUrl } from '../control/readServiceUrl.ts'
import { createMcpServer } from '../mcp/createMcpServer.ts'
import { printNote } from '../output/print.ts'
import { readVersion } from '../readVersion.ts'
import { readEndpoint } from './endpoint.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The parts of a URL that may be a key: long, or after /v2. */
const getSecretParts = ({ url }: EndpointUrlOptions): string[] =>
  typeof url !== 'string' ? [] : url.split(/[/?&=@:]/).filter((part) => /^[\w~-]{20,}$/.test(part))

/** What no result may contain: the token, the key, and the parts of the URL that look like one. */
function collectSecrets(given: ReadArguments, environment: Environment, token: string | undefined): string[] {
  let endpoint: EndpointUrlOptions | undefined
  try {
    endpoint = readEndpoint(given, environment)
  } catch {
    // The tools that need it say what is missing.
  }
  const key = typeof endpoint?.apiKey === 'string' ? [endpoint.apiKey] : []
  return [...(token === undefined ? [] : [token]), ...key, ...(endpoint ? getSecretParts(endpoint) : [])]
}

/**
 * `keyrail mcp`: serves the Model Context Protocol on standard input and output, until the input ends.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for invalid usage; 1 if the service rejects the token; 3 without a response.
 */
export async function mcp(given: ReadArguments): Promise<number> {
  if (given.positionals.length > 0) throw wrongUsage('keyrail mcp takes no arguments, only options')
  const { env } = process
  const hasService = given.text('service') !== undefined || !!env['KEYRAIL_SERVICE_URL']
  const credential = hasService ? await readToken(given, env) : undefined
  const api = credential && createControlApiClient(readServiceUrl(given, env).origin, credential)
  const scopes = api === undefined ? [] : ((await api('GET /api/session', {})).scopes ?? [])
  const server = createMcpServer({
    version: readVersion(),
    api,
    scopes,
    getEndpoint: (network) =>
      readEndpoint(
        { ...given, text: (name) => (name === 'network' ? (network ?? given.text(name)) : given.text(name)) },
        env,
      ),
    keyFolder: given.text('key-folder') ?? '.keyrail/keys',
    secrets: collectSecrets(given, env, credential?.token),
  })
  const ended = new Promise<void>((resolve) => {
    process.stdin.once('end', resolve)
    process.stdin.once('close', resolve)
    server.server.onclose = resolve
  })
  await server.connect(new StdioServerTransport())
  const more = scopes.includes('keys:write') ? ', and it may create keys' : ''
  await printNote(`keyrail: serving MCP on standard input and output${more}`)
  await ended
  await server.close()
  return exitCodes.ok
}
