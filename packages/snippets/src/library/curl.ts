import type { ProgramId, ReadOptions } from '../readOptions.ts'
import { keyPath, paragraphs, runWith, signedTransaction, toJson, urlVariable } from './writer.ts'
import type { Written } from './writer.ts'

const post = (body: string): string[] => [
  'curl --silent --show-error "$URL" \\',
  "  --header 'content-type: application/json' \\",
  `  --data ${body}`,
  'echo',
]

const callMethod = (method: string, params: string): string[] =>
  post(`'{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}'`)

/** A value as JSON in a shell string. Only the text of JSON strings can contain a quote. */
const shellString = (value: object): string => `'${toJson(value).replaceAll("'", '\\u0027')}'`

/** Assigns one field of a response to a shell variable, for use in a second call. */
const assign = (name: string, method: string, params: string, field: string): string[] => [
  `${name}=$(curl --silent --show-error "$URL" \\`,
  "  --header 'content-type: application/json' \\",
  `  --data '{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}' |`,
  `  sed -n 's/.*"${field}":"\\(0x[0-9a-f]*\\)".*/\\1/p')`,
]

const programs = ({ account, block, contract, call }: ReadOptions): Readonly<Record<ProgramId, readonly string[]>> => ({
  latestBlock: callMethod('eth_getBlockByNumber', '["latest",false]'),
  blockByNumber: callMethod('eth_getBlockByNumber', `["0x${block.toString(16)}",false]`),
  balance: callMethod('eth_getBalance', `["${account}","latest"]`),
  transaction: [
    '# The first transaction of the latest block. null if it has none.',
    ...assign('HASH', 'eth_getTransactionByBlockNumberAndIndex', '["latest","0x0"]', 'hash'),
    '',
    ...post(
      '"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"method\\":\\"eth_getTransactionByHash\\",\\"params\\":[\\"${HASH:-0x' +
        '0'.repeat(64) +
        '}\\"]}"',
    ),
  ],
  receipt: [
    '# The receipt of the first transaction of the latest block. null if it has none.',
    ...assign('HASH', 'eth_getTransactionByBlockNumberAndIndex', '["latest","0x0"]', 'hash'),
    '',
    ...post(
      '"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"method\\":\\"eth_getTransactionReceipt\\",\\"params\\":[\\"${HASH:-0x' +
        '0'.repeat(64) +
        '}\\"]}"',
    ),
  ],
  contractLogs: [
    '# The latest 100 blocks.',
    ...assign('HEAD', 'eth_blockNumber', '[]', 'result'),
    "FROM=$(printf '0x%x' $((HEAD > 99 ? HEAD - 99 : 0)))",
    '',
    ...post(
      `"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"method\\":\\"eth_getLogs\\",\\"params\\":[{\\"address\\":\\"${contract}\\",\\"fromBlock\\":\\"$FROM\\",\\"toBlock\\":\\"$HEAD\\"}]}"`,
    ),
  ],
  contractRead: [
    '# totalSupply(); Returns 0x if there is no contract.',
    ...callMethod('eth_call', `[{"to":"${contract}","data":"0x18160ddd"},"latest"]`),
  ],
  gasPrice: [
    '# Two calls in one request.',
    ...post(
      `'[{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice","params":[]},{"jsonrpc":"2.0","id":2,"method":"eth_maxPriorityFeePerGas","params":[]}]'`,
    ),
  ],
  sendRawTransaction: [
    '# curl cannot sign: use a wallet or a library.',
    'SIGNED="${SIGNED_TRANSACTION:?Set SIGNED_TRANSACTION to a signed transaction}"',
    '',
    ...post(
      '"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"method\\":\\"eth_sendRawTransaction\\",\\"params\\":[\\"$SIGNED\\"]}"',
    ),
  ],
  chainId: callMethod('eth_chainId', '[]'),
  subscribeBlocks: [
    '# curl cannot send messages over a WebSocket. Node can.',
    'URL="$URL" node -e \'',
    '  const socket = new WebSocket(process.env.URL.replace("http", "ws"))',
    '  socket.onopen = () => {',
    '    socket.send(`{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}`)',
    '  }',
    '  socket.onmessage = ({ data }) => console.log(data)',
    "'",
  ],
  call: post(shellString({ jsonrpc: '2.0', id: 1, method: call.method, params: call.params })),
})

/** Writes shell programs with curl. */
export function writeCurl(options: ReadOptions): Written {
  const { method } = options
  const url = urlVariable(options)
  return {
    lines: paragraphs(
      [`URL="\${${url}:?Set ${url}}${keyPath(options)}\${KEYRAIL_API_KEY:?Set KEYRAIL_API_KEY}"`],
      programs(options)[method],
    ),
    extension: 'sh',
    run: runWith('sh'),
    ...(method === 'sendRawTransaction' && { environment: [signedTransaction] }),
  }
}
