import { isAbsolute, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { DevService } from '../dev/devService.ts'
import type { FirstCall, FirstCalls } from '../dev/firstCalls.ts'
import type { BlockHead } from '../node/callNode.ts'
import { maskKeys } from './maskKeys.ts'
import { formatTable } from './formatTable.ts'
import { getOwnCommands } from './getOwnCommands.ts'
import type { Style } from './style.ts'

const decimal = (block: BlockHead): string => BigInt(block.number).toString()
const visibleWidth = (line: string): number => stripVTControlCharacters(line).length
const shorten = (hash: string): string => `${hash.slice(0, 10)}…${hash.slice(-8)}`

const quote = (file: string): string => (/[^\w./:-]/.test(file) ? `'${file.replaceAll("'", String.raw`'\''`)}'` : file)

/** The path of a file for a shell in this folder. */
const toShownPath = (file: string): string => {
  const path = relative(process.cwd(), file)
  return quote(path.startsWith('..') || isAbsolute(path) ? file : path)
}

/**
 * Formats what a developer copies: a link to the dashboard that logs in once, the URL, the key, and the file that has both.
 *
 * @param service - The running service. Without `logInLink`, the URL of the dashboard and the account are shown.
 * @param options - `showKey`: whether the key is printed in full, or its last characters and its file. `envFile`: the file of `--env`.
 */
export function formatService(
  service: Pick<DevService, 'description' | 'folder'> & { readonly logInLink?: string },
  {
    style,
    envFile,
    showKey,
  }: { readonly style: Style; readonly envFile: string | undefined; readonly showKey: boolean },
): string[] {
  const { logInLink } = service
  const { url, dashboard, account, nodes, app } = service.description
  const { passwordFile, keyFiles } = service.folder
  const logIn = `${account.email}, password in ${toShownPath(passwordFile)}`
  const [network = ''] = Object.keys(nodes)
  return formatTable(
    [
      [style.strong('Dashboard'), logInLink ?? dashboard],
      ['', style.faint(logInLink === undefined ? `log in as ${logIn}` : `logs in once; after that ${logIn}`)],
      [style.strong('Base URL'), `${url}/${network}`],
      [
        style.strong('API key'),
        showKey ? app.apiKey : `${maskKeys(app.apiKey)}, in full in ${toShownPath(`${keyFiles}/app`)}`,
      ],
      ...(envFile === undefined
        ? []
        : [[style.strong('Env file'), `${toShownPath(envFile)} has both, for the examples`]]),
    ],
    '  ',
  )
}

/**
 * Formats the first calls in one row for each network and kind of key: whether each library got the block that the node itself has.
 *
 * @param calls - The calls.
 * @param style - The style.
 */
export function formatComparison(calls: FirstCalls, style: Style): string[] {
  const libraries = [...new Set(calls.calls.map(({ library }) => library))]
  const compare = ({ block, failure }: FirstCall): string =>
    failure === undefined ? style.good('matches') : style.bad(block ? 'differs' : 'failed')
  const rows = calls.nodes.flatMap(({ network, block }) =>
    (['app', 'API key'] as const).flatMap((shape) => {
      const found = calls.calls.filter((call) => call.network === network && call.shape === shape)
      const cells = libraries.map((library) => {
        const call = found.find((one) => one.library === library)
        return call ? compare(call) : ''
      })
      const node = [decimal(block), style.faint(shorten(block.hash))]
      return found.length === 0 ? [] : [[style.strong(network), shape, ...node, ...cells]]
    }),
  )
  return [
    ...formatTable([
      ['NETWORK', 'KEY', 'BLOCK', 'HASH IN THE NODE', ...libraries.map((name) => name.replace('@keyrail/', ''))].map(
        style.faint,
      ),
      ...rows,
    ]),
    ...formatFailures(calls, style),
  ]
}

const formatFailures = (calls: FirstCalls, style: Style): string[] =>
  calls.calls.flatMap(({ network, shape, library, failure }) =>
    failure === undefined ? [] : [`${style.bad('failed')}  ${network}, ${shape}, ${library}: ${failure}`],
  )

/** Formats one command to try. */
export function formatFirstCommand(service: Pick<DevService, 'description' | 'folder'>, style: Style): string[] {
  const { url, nodes } = service.description
  const [network = ''] = Object.keys(nodes)
  const { command, where } = getOwnCommands(import.meta.url)
  return [
    style.faint(`Try it in another terminal${where}:`),
    `  ${command} watch blocks --base-url ${url}/${network} \\`,
    `    --key-file ${toShownPath(`${service.folder.keyFiles}/app`)}`,
  ]
}

/** Formats the last lines. */
export function formatServing({
  style,
  verbose,
  blockTime,
}: {
  readonly style: Style
  readonly verbose: boolean
  readonly blockTime: number | undefined
}): string[] {
  const { dev } = getOwnCommands(import.meta.url)
  const blocks = blockTime === undefined ? '' : `, a block every ${blockTime} s`
  return [
    ...(verbose ? [] : [`For funded accounts, a token, all URLs and a program, add --verbose: ${dev} --verbose`]),
    `${style.strong('Serving until Ctrl-C')}${blocks}`,
  ]
}

/**
 * Formats the table of first calls: each result, compared with the node's own.
 *
 * @param calls - The calls.
 * @param style - The style.
 * @param columns - The width of the terminal. Hashes that do not fit are shortened. @default full hashes
 */
export function formatFirstCalls(calls: FirstCalls, style: Style, columns?: number): string[] {
  const compare = ({ failure }: FirstCall): string =>
    failure === undefined ? style.good('matches') : style.bad('differs')
  const rows = (hash: (whole: string) => string): string[][] => [
    ['NETWORK', 'CLIENT', 'BLOCK', 'HASH', 'NODE', 'TIME'].map(style.faint),
    ...calls.nodes.flatMap(({ network, block }) => [
      [style.strong(network), 'node', decimal(block), style.faint(hash(block.hash))],
      ...calls.calls
        .filter((call) => call.network === network)
        .map((call) => [
          network,
          `${call.shape}, ${call.library}`,
          call.block ? decimal(call.block) : style.bad('failed'),
          call.block ? hash(call.block.hash) : '',
          call.block ? compare(call) : '',
          `${call.tookMs.toFixed(1)} ms`,
        ]),
    ]),
  ]
  const whole = formatTable(rows((hash) => hash))
  const tooWide = columns !== undefined && whole.some((line) => visibleWidth(line) > columns)
  return [...(tooWide ? formatTable(rows(shorten)) : whole), ...formatFailures(calls, style)]
}

/** Formats the URLs, with their keys masked. */
export function formatUrls(calls: FirstCalls, style: Style): string[] {
  const seen = new Set<string>()
  const rows: string[][] = []
  for (const { network, shape, redactedUrl } of calls.calls) {
    if (seen.has(redactedUrl)) continue
    seen.add(redactedUrl)
    rows.push([network, shape, redactedUrl, style.faint(`chain ${calls.chainIds[network]}`)])
  }
  return [
    style.faint('URLs, with their keys masked:'),
    ...formatTable(rows, '  '),
    style.faint('For WebSockets, the same URLs with ws:// in place of http://'),
  ]
}

/**
 * Formats what every chain contains: the funded accounts with their private keys, and the example token.
 *
 * @param description - The running service.
 * @param style - The style.
 */
export function formatChainDetails(
  { fundedAccounts, tokens }: Pick<DevService['description'], 'fundedAccounts' | 'tokens'>,
  style: Style,
): string[] {
  const [token] = Object.values(tokens)
  return [
    `${style.strong('Funded accounts')} with 10,000 of the native currency on every network. ${style.bad('The private keys are public: never use them on a real network.')}`,
    ...formatTable(
      fundedAccounts.map(({ address, privateKey }) => [address, style.faint(privateKey)]),
      '  ',
    ),
    '',
    `${style.strong('ERC-20 token')} ${token?.name} (${token?.symbol}, ${token?.decimals} decimals), owned by the first account, with transfers in several blocks`,
    ...formatTable(
      Object.entries(tokens).map(([network, { address }]) => [network, address]),
      '  ',
    ),
  ]
}

/**
 * Formats the next steps: the dashboard and its login, the keys, and three ways to make a call.
 * It contains the paths of secrets, but no secrets.
 *
 * @param service - The running service.
 * @param style - The style.
 */
export function formatNextSteps(service: Pick<DevService, 'description' | 'folder'>, style: Style): string[] {
  const { url, dashboard, account, nodes, fork } = service.description
  const [network = ''] = Object.keys(nodes)
  const { dev, command, where, program } = getOwnCommands(import.meta.url)
  const { keyFiles, passwordFile, path, temporary } = service.folder
  const keyFile = toShownPath(`${keyFiles}/app`)
  return [
    style.strong('Next steps'),
    `  Open the dashboard at ${dashboard} and log in as ${account.email} with the password in ${toShownPath(passwordFile)}`,
    `  Get the full keys and URLs with ${dev} --json, or the keys from ${toShownPath(`${path}/keyrail.json`)}`,
    temporary
      ? '  This folder is removed when the service stops; omit --ephemeral to keep keys and chains.'
      : `  The next start uses the same keys${fork ? '' : ' and chains'}. To start over, stop the service and delete ${toShownPath(path)}`,
    '',
    `  ${style.faint('# with curl')}`,
    `  export KEYRAIL_API_KEY="$(cat ${keyFile})"`,
    `  curl -s "${url}/${network}/v2/$KEYRAIL_API_KEY" -H 'content-type: application/json' \\`,
    `    --data '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'`,
    '',
    `  ${style.faint(`# from the command line${where}`)}`,
    `  ${command} call eth_getBlockByNumber latest false --base-url ${url}/${network} --key-file ${keyFile}`,
    `  ${command} watch blocks --from 0 --base-url ${url}/${network} --key-file ${keyFile}`,
    '',
    `  ${style.faint('// in a program (JavaScript, Node 22 or later)')}`,
    ...(program === undefined ? [] : [`  ${style.faint(`// ${program}`)}`]),
    `  import { createClient } from '@keyrail/fetch'`,
    '',
    '  const client = createClient({',
    `    baseUrl: '${url}/${network}',`,
    '    apiKey: process.env.KEYRAIL_API_KEY,',
    '  })',
    `  const block = await client.eth_getBlockByNumber('latest', false)`,
    '  console.log(Number(block.number), block.hash)',
    '  client.close()',
  ]
}
