import { stripVTControlCharacters } from 'node:util'
import { devChainIds, networks } from '../dev/devChains.ts'
import type { DevService } from '../dev/devService.ts'
import type { FirstCall, FirstCalls } from '../dev/firstCalls.ts'
import type { BlockHead } from '../node/callNode.ts'
import { formatTable } from './formatTable.ts'
import { getOwnCommands } from './getOwnCommands.ts'
import type { Style } from './style.ts'

const decimal = (block: BlockHead): string => BigInt(block.number).toString()
const visibleWidth = (line: string): number => stripVTControlCharacters(line).length
const shorten = (hash: string): string => `${hash.slice(0, 10)}…${hash.slice(-8)}`

/**
 * The table of first calls: what each answered, next to what the node itself says.
 *
 * @param calls - The calls.
 * @param style - How things stand out.
 * @param columns - The width of the terminal, where there is one: hashes are shortened if they do not fit. @default hashes are whole
 */
export function formatFirstCalls(calls: FirstCalls, style: Style, columns?: number): string[] {
  const verdict = ({ failure }: FirstCall): string =>
    failure === undefined ? style.good('the same') : style.bad('otherwise')
  const rows = (hash: (whole: string) => string): string[][] => [
    ['NETWORK', 'ASKED', 'BLOCK', 'HASH', 'NODE SAYS', 'TIME'].map(style.faint),
    ...networks.flatMap((network) => [
      ...calls.nodes
        .filter((node) => node.network === network)
        .map(({ block }) => [style.strong(network), 'the node itself', decimal(block), style.faint(hash(block.hash))]),
      ...calls.calls
        .filter((call) => call.network === network)
        .map((call) => [
          network,
          `${call.shape}, ${call.library}`,
          call.block ? decimal(call.block) : style.bad('failed'),
          call.block ? hash(call.block.hash) : '',
          call.block ? verdict(call) : '',
          `${call.tookMs.toFixed(1)} ms`,
        ]),
    ]),
  ]
  const whole = formatTable(rows((hash) => hash))
  const tooWide = columns !== undefined && whole.some((line) => visibleWidth(line) > columns)
  const failures = calls.calls.flatMap(({ network, shape, library, failure }) =>
    failure === undefined ? [] : [`${style.bad('failed')}  ${network}, ${shape}, ${library}: ${failure}`],
  )
  return [...(tooWide ? formatTable(rows(shorten)) : whole), ...failures]
}

/** The addresses with their keys masked. */
export function formatUrls(calls: FirstCalls, style: Style): string[] {
  const seen = new Set<string>()
  const rows: string[][] = []
  for (const { network, shape, label } of calls.calls) {
    if (seen.has(label)) continue
    seen.add(label)
    rows.push([network, shape, label, style.faint(`chain ${devChainIds[network]}`)])
  }
  return [style.faint('The addresses, each with its key masked:'), ...formatTable(rows, '  ')]
}

/**
 * Where to go from here: the dashboard and how to log in there, the keys, and three ways to make a call.
 * No secret is in it, but the files that hold them.
 *
 * @param service - What runs.
 * @param style - How things stand out.
 */
export function formatNextSteps(service: Pick<DevService, 'description' | 'folder'>, style: Style): string[] {
  const { url, dashboard, account } = service.description
  const { dev, call, where, program } = getOwnCommands(import.meta.url)
  const { keyFiles, passwordFile, path, temporary } = service.folder
  const quoted = (file: string): string =>
    /[^\w./:-]/.test(file) ? `'${file.replaceAll("'", String.raw`'\''`)}'` : file
  const keyFile = quoted(`${keyFiles}/app`)
  return [
    style.strong('Where to go next'),
    `  Dashboard: ${dashboard}, log in as ${account.email} with the password in ${quoted(passwordFile)}`,
    `  Whole keys and addresses: ${dev} --json prints them; the keys are in ${quoted(`${path}/keyrail.json`)}`,
    temporary
      ? `  This folder and its chains go when the service stops; ${dev} --data DIR keeps them.`
      : '  Keys and chains are kept there for the next start.',
    '',
    `  ${style.faint('# with curl')}`,
    `  export KEYRAIL_API_KEY="$(cat ${keyFile})"`,
    `  curl -s "${url}/testnet/v2/$KEYRAIL_API_KEY" -H 'content-type: application/json' \\`,
    `    --data '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}'`,
    '',
    `  ${style.faint(`# from the command line${where}`)}`,
    `  ${call} eth_getBlockByNumber latest false --base-url ${url}/testnet --key-file ${keyFile}`,
    '',
    `  ${style.faint('// in a program (JavaScript, Node 20 or later)')}`,
    ...(program === undefined ? [] : [`  ${style.faint(`// ${program}`)}`]),
    `  import { createClient } from '@keyrail/fetch'`,
    '',
    '  const client = createClient({',
    `    baseUrl: '${url}/testnet',`,
    '    apiKey: process.env.KEYRAIL_API_KEY,',
    '  })',
    `  const block = await client.eth_getBlockByNumber('latest', false)`,
    '  console.log(Number(block.number), block.hash)',
    '  client.close()',
  ]
}
