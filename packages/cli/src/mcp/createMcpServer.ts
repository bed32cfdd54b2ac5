import { join } from 'node:path'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { createTransport } from '@keyrail/core'
import type { EndpointUrlOptions } from '@keyrail/core'
import { isReadMethod } from '@keyrail/core/internal'
import { z } from 'zod'
import { toJsonValue } from '../abi/formatAbiValue.ts'
import { parseParams } from '../arguments/parseParams.ts'
import { createContractCall, isAddress } from '../call/contractCall.ts'
import { CliError } from '../cliError.ts'
import type { ControlApiClient } from '../control/controlApi.ts'
import { reserveKeyFile } from '../control/reserveKeyFile.ts'
import { examine } from '../doctor/examine.ts'
import { createDocsIndex } from './docsIndex.ts'
import type { DocsIndex } from './docsIndex.ts'
import { findRequest, listApps, listFailures, listKeyOwners, maxPages } from './requestLog.ts'
import { createToolResults } from './toolResult.ts'

/** What the server has access to. */
export interface McpServerOptions {
  readonly version: string
  /** Undefined: the tools that need the control API say what is missing. */
  readonly api: ControlApiClient | undefined
  /** The scopes of the token. The tool that creates a key exists only with `keys:write`. */
  readonly scopes: readonly string[]
  /** Creates the endpoint for calls. @throws {CliError} that says what is missing. */
  readonly getEndpoint: (network: string | undefined) => EndpointUrlOptions
  /** Where new keys are written. */
  readonly keyFolder: string
  /** What no result may contain. */
  readonly secrets: readonly string[]
}

const noService = new CliError('this server has no access to a service', {
  hint: 'start keyrail mcp with KEYRAIL_SERVICE_URL and KEYRAIL_TOKEN',
})

const readOnly = { readOnlyHint: true, openWorldHint: true } as const
const networkName = z.string().optional().describe('A network of the service, if the base URL contains {network}')

/**
 * Creates the MCP server. It registers what an agent needs to use Keyrail and to find out why a call failed. Results contain no key, and what
 * others wrote is marked as data.
 *
 * @see https://modelcontextprotocol.io/specification
 */
export function createMcpServer(options: McpServerOptions): McpServer {
  const { api, scopes, getEndpoint, keyFolder, secrets } = options
  const server = new McpServer({ name: 'keyrail', version: options.version })
  const results = createToolResults(secrets)
  let index: DocsIndex | undefined
  const getDocs = (): DocsIndex => (index ??= createDocsIndex())
  const getApi = (): ControlApiClient => {
    if (api === undefined) throw noService
    return api
  }
  const run =
    <Input>(tool: (input: Input) => CallToolResult | Promise<CallToolResult>) =>
    async (input: Input): Promise<CallToolResult> => {
      try {
        return await tool(input)
      } catch (error) {
        return results.failure(error)
      }
    }
  const request = async (network: string | undefined, method: string, params: readonly unknown[]): Promise<unknown> => {
    const transport = createTransport(getEndpoint(network))
    try {
      return await transport.request({ method, params })
    } finally {
      transport.close()
    }
  }

  server.registerTool(
    'search_docs',
    {
      description: 'Search the documentation of Keyrail. Returns sections of pages.',
      inputSchema: { query: z.string().min(1).max(200), max: z.int().min(1).max(10).optional() },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    run(({ query, max = 4 }) => {
      const hits = getDocs().search(query, max)
      if (hits.length === 0) return results.text(`No page contains "${query}". Try other words.`)
      const sections = hits.map(({ page, heading, text }) => `# ${page}: ${heading}\n\n${text.slice(0, 3_000)}`)
      return results.text(sections.join('\n\n'))
    }),
  )

  server.registerTool(
    'read_docs',
    {
      description: 'Read a page of the documentation, by the path that search_docs returns.',
      inputSchema: { page: z.string().max(200).describe('For example service/limits.md') },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    run(({ page }) => {
      const text = getDocs().read(page)
      if (text === undefined) throw new CliError('there is no such page', { hint: 'find one with search_docs' })
      return results.text(text)
    }),
  )

  server.registerTool(
    'explain_failure',
    {
      description: 'Explain a failure kind (such as throttled) or a reason of the service (such as key_unknown).',
      inputSchema: { name: z.string().max(64) },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    run(({ name }) => results.text(readFailureSection(getDocs(), name))),
  )

  server.registerTool(
    'list_apps',
    { description: 'List the apps and API keys of the account, without their keys.', annotations: readOnly },
    run(async () => results.data('the service', await listKeyOwners(getApi()))),
  )

  server.registerTool(
    'recent_failures',
    {
      description: 'List the newest failed requests of up to 100 apps and API keys, with their outcome and error.',
      inputSchema: { max: z.int().min(1).max(100).optional() },
      annotations: readOnly,
    },
    run(async ({ max = 20 }) => results.data('the request log', await listFailures(getApi(), max))),
  )

  server.registerTool(
    'explain_request',
    {
      description: 'Explain a request by its id: what the request log has about it, and how to fix it.',
      inputSchema: { requestId: z.string().min(1).max(128).describe('X-Request-Id, or error.data.requestId') },
      annotations: readOnly,
    },
    run(async ({ requestId }) => {
      const found = await findRequest(getApi(), requestId)
      if (found === undefined)
        throw new CliError('the request log has no such request', {
          hint: 'it has failures and a sample of the other requests, some seconds late, and only of your own keys',
        })
      const { outcome } = found.request
      const isSuccess = outcome === 'succeeded' || outcome === 'reverted'
      const note = isSuccess
        ? `The outcome is ${outcome}.`
        : (outcomeNotes.get(outcome) ?? readFailureSection(getDocs(), outcome))
      return results.data('the request log', found, note)
    }),
  )

  server.registerTool(
    'usage',
    {
      description: 'Show what is used and left of the quotas of each of up to 100 apps, and of all API keys.',
      annotations: readOnly,
    },
    run(async () => {
      const client = getApi()
      const listed = await listApps(client)
      const apps = await Promise.all(
        listed.slice(0, maxPages).map(async ({ id, name }) => {
          const { day, month } = await client('GET /api/apps/{appId}/usage', { params: { appId: id } })
          return { id, name, day, month }
        }),
      )
      const { day, month } = await client('GET /api/usage', {})
      return results.data('the service', { apps, apiKeys: { day, month } })
    }),
  )

  server.registerTool(
    'network_status',
    { description: 'Show how many nodes of each network are healthy, lagging or down.', annotations: readOnly },
    run(async () => results.data('the service', await getApi()('GET /api/networks/status', {}))),
  )

  server.registerTool(
    'call',
    {
      description: 'Make a JSON-RPC call that only reads, such as eth_getBalance.',
      inputSchema: { method: z.string().max(64), params: z.array(z.unknown()).optional(), network: networkName },
      annotations: readOnly,
    },
    run(async ({ method, params = [], network }) => {
      if (!isReadMethod(method))
        throw new CliError('this method is not a known read', {
          hint: 'this tool only makes calls that change nothing',
        })
      return results.data('the chain', await request(network, method, params))
    }),
  )

  server.registerTool(
    'read_contract',
    {
      description: 'Call a view function of a contract, and decode the result.',
      inputSchema: {
        address: z.string().describe('The address of the contract'),
        signature: z.string().max(500).describe('With the types of the result: balanceOf(address)(uint256)'),
        arguments: z.array(z.string()).optional().describe('Lists as [1,2], tuples as (1,true)'),
        block: z.string().max(66).optional().describe('A number or a tag. Default: latest'),
        network: networkName,
      },
      annotations: readOnly,
    },
    run(async ({ address, signature, arguments: words = [], block = 'latest', network }) => {
      if (!isAddress(address)) throw new CliError('the address is not 20 bytes of hex')
      const { to, data, decode } = createContractCall([address, signature, ...words])
      const result = await request(network, 'eth_call', [{ to, data }, ...parseParams([block])])
      return results.data('the contract', decode(result).map(toJsonValue))
    }),
  )

  server.registerTool(
    'doctor',
    {
      description: 'Check the endpoint from the connection up, and show how to fix each problem. Makes about 30 calls.',
      inputSchema: {
        network: networkName,
        origin: z.string().max(200).optional().describe('Of a page that will call it'),
      },
      annotations: readOnly,
    },
    run(async ({ network, origin }) => {
      const checks = { chainId: undefined, calls: 5, batch: 20, logRange: 1_000, origin, timeoutMs: 10_000 }
      const { findings } = await examine(getEndpoint(network), checks, async () => {})
      return results.data('the checks', findings)
    }),
  )

  // A tool that an agent may not use would only invite attempts.
  if (scopes.includes('keys:write'))
    server.registerTool(
      'create_key',
      {
        description: `Create an API key for one network, and write it to a new file in ${keyFolder}. The result has no key.`,
        inputSchema: {
          name: z.string().min(1).max(64),
          network: z.string().max(63),
          file: z
            .string()
            .regex(/^\w[\w.-]{0,63}$/)
            .describe('The name of the file, without a folder'),
        },
        annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
      },
      run(async ({ name, network, file }) => {
        const reserved = reserveKeyFile(join(keyFolder, file))
        try {
          const { key, apiKey } = await getApi()('POST /api/keys', { body: { name, network } })
          try {
            reserved.write(apiKey)
          } catch {
            throw new CliError(`the API key ${key.id} was created, but ${reserved.path} cannot be written`, {
              hint: `revoke the key with keyrail keys revoke ${key.id}, then try again`,
            })
          }
          return results.data('the service', { id: key.id, network: key.network, url: key.url, file: reserved.path })
        } finally {
          reserved.release()
        }
      }),
    )
  return server
}

/** What outcomes of the request log mean that are no failure kinds. */
const outcomeNotes: ReadonlyMap<string, string> = new Map([
  ['nodeError', 'The node responded with an error: its code and message are in the data.'],
  ['upstreamFailed', 'No node sent a complete response: try again, and look at network_status.'],
  ['disconnected', 'The caller disconnected before the response was complete.'],
])

/** Returns the section of a failure kind or of a reason. */
function readFailureSection(docs: DocsIndex, name: string): string {
  const page = docs.read('failures.md') ?? ''
  const escaped = name.replaceAll(/[^\w]/g, '')
  const [, section] = new RegExp(`^### ${escaped}\\n([\\s\\S]*?)(?=^#{2,3} |(?![\\s\\S]))`, 'm').exec(page) ?? []
  if (section === undefined || escaped === '') return 'failures.md has no section with this name.'
  return `${escaped}\n\n${section.trim()}`
}
