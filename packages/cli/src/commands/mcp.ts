import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { resolveEndpoint } from '@keyrail/core/internal'
import type { ReadArguments } from '../arguments/command.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { createControlApiClient } from '../control/controlApi.ts'
import { readToken } from '../control/readCredential.ts'
import { readServiceUrl } from '../control/readServiceUrl.ts'
import { createMcpServer } from '../mcp/createMcpServer.ts'
import { printNote } from '../output/print.ts'
import { readVersion } from '../readVersion.ts'
import { readEndpoint, readKey } from './endpoint.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Whether a part of a URL is a word or a number, such as the name of a network or a chain id. Results are full of them, and keys are longer. */
const isWord = (part: string): boolean => part.length < 20 && /^(?:[a-z-]+|\d+)$/.test(part)

/** Returns what core masks in a URL, except for words in its path and query. */
async function findUrlSecrets(text: string | undefined): Promise<readonly string[]> {
  if (text === undefined) return []
  const url = text.replaceAll('{network}', 'network')
  const { username, password } = URL.parse(url) ?? { username: '', password: '' }
  try {
    const { secrets } = await resolveEndpoint({ url }).getTarget()
    return [password, ...secrets.filter((part) => !isWord(part) || part === username)]
  } catch {
    // The first call says what is wrong with the URL.
    return [username, password]
  }
}

/** What no result may contain: the token, the key, and the secret parts of URLs. */
async function collectSecrets(
  given: ReadArguments,
  environment: Environment,
  known: readonly (string | undefined)[],
): Promise<readonly string[]> {
  const urls = [
    ...['url', 'base-url', 'rpc-url'].map((name) => given.text(name)),
    environment['KEYRAIL_URL'],
    environment['KEYRAIL_BASE_URL'],
  ]
  const found = await Promise.all(urls.map(findUrlSecrets))
  return [...known, ...found.flat()].flatMap((secret) => (secret ? [secret] : []))
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
  // Read once: a key that replaces it later would not be hidden.
  const apiKey = readKey(given, env)
  const server = createMcpServer({
    version: readVersion(),
    api,
    scopes,
    getEndpoint: (network) =>
      readEndpoint(
        { ...given, text: (name) => (name === 'network' ? (network ?? given.text(name)) : given.text(name)) },
        env,
        apiKey,
      ),
    keyFolder: given.text('key-folder') ?? '.keyrail/keys',
    secrets: await collectSecrets(given, env, [credential?.token, apiKey]),
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
