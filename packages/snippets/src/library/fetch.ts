import type { ProgramId, ReadOptions } from '../readOptions.ts'
import type { SnippetMethod } from '../snippetMethods.ts'
import { jsArguments, jsEndpoint, jsOptions, jsPrint, jsUrl, paragraphs, inNode, signedTransaction } from './writer.ts'
import type { Written } from './writer.ts'

const call = [
  'async function call(method, ...params) {',
  '  const response = await fetch(url, {',
  "    method: 'POST',",
  "    headers: { 'content-type': 'application/json' },",
  "    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),",
  '  })',
  '  const { result, error } = await response.json()',
  '  if (error) throw new Error(`${method}: ${error.code} ${error.message}`)',
  '  return result',
  '}',
]

const signed = [
  "const signed = process.env['SIGNED_TRANSACTION'] // fetch cannot sign: use a wallet or a library",
  "if (!signed) throw new Error('Set SIGNED_TRANSACTION to a signed transaction')",
]

const plain = ({
  account,
  block,
  contract,
  symbol,
  call: given,
}: ReadOptions): Readonly<Record<ProgramId, readonly string[]>> => ({
  latestBlock: [
    "const block = await call('eth_getBlockByNumber', 'latest', false)",
    'console.log(`Block ${Number(block.number)} is ${block.hash}`)',
  ],
  blockByNumber: [
    `const block = await call('eth_getBlockByNumber', '0x${block.toString(16)}', false)`,
    'console.log(`Block ${Number(block.number)} is ${block.hash}, with ${block.transactions.length} transactions`)',
  ],
  balance: [
    `const account = '${account}'`,
    "const balance = await call('eth_getBalance', account, 'latest')",
    `console.log(\`\${account} holds \${Number(balance) / 1e18} ${symbol}\`)`,
  ],
  transaction: [
    "const { transactions } = await call('eth_getBlockByNumber', 'latest', false)",
    'const hash = transactions[0] // or another hash',
    'if (hash === undefined) {',
    "  console.log('The latest block has no transactions')",
    '} else {',
    "  const { from, to, value } = await call('eth_getTransactionByHash', hash)",
    `  console.log(\`\${hash} pays \${Number(value) / 1e18} ${symbol} from \${from} to \${to}\`)`,
    '}',
  ],
  receipt: [
    "const { transactions } = await call('eth_getBlockByNumber', 'latest', false)",
    'const hash = transactions[0] // or another hash',
    'if (hash === undefined) {',
    "  console.log('The latest block has no transactions')",
    '} else {',
    "  const { status, blockNumber, gasUsed } = await call('eth_getTransactionReceipt', hash)",
    "  const end = status === '0x1' ? 'succeeded' : 'failed'",
    '  console.log(`${hash} ${end} in block ${Number(blockNumber)} and used ${Number(gasUsed)} gas`)',
    '}',
  ],
  contractLogs: [
    `const address = '${contract}'`,
    "const head = Number(await call('eth_blockNumber'))",
    'const fromBlock = `0x${Math.max(0, head - 99).toString(16)}`',
    "const logs = await call('eth_getLogs', { address, fromBlock, toBlock: `0x${head.toString(16)}` })",
    'console.log(`${logs.length} logs in the latest 100 blocks`)',
    'for (const log of logs) console.log(`Block ${Number(log.blockNumber)}: ${log.topics[0]}`)',
  ],
  contractRead: [
    `const address = '${contract}'`,
    "if ((await call('eth_getCode', address, 'latest')) === '0x') {",
    '  console.log(`There is no contract at ${address}`)',
    '} else {',
    "  const supply = await call('eth_call', { to: address, data: '0x18160ddd' }, 'latest') // totalSupply()",
    '  console.log(`Total supply: ${BigInt(supply)} of the smallest unit`)',
    '}',
  ],
  gasPrice: [
    "console.log(`Gas price: ${Number(await call('eth_gasPrice'))} wei`)",
    "console.log(`Priority fee: ${Number(await call('eth_maxPriorityFeePerGas'))} wei`)",
  ],
  sendRawTransaction: [
    ...signed,
    '',
    "const hash = await call('eth_sendRawTransaction', signed)",
    'console.log(`Sent ${hash}`)',
    '',
    'let receipt = null',
    'while (receipt === null) {',
    '  await new Promise((resolve) => setTimeout(resolve, 1_000))',
    "  receipt = await call('eth_getTransactionReceipt', hash)",
    '}',
    'console.log(`It is in block ${Number(receipt.blockNumber)}`)',
  ],
  chainId: ["console.log(`Chain id: ${Number(await call('eth_chainId'))}`)"],
  // Without `call`: the program is a WebSocket.
  subscribeBlocks: [
    'const socket = new WebSocket(url)',
    'socket.onopen = () => {',
    "  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }))",
    '}',
    'socket.onmessage = ({ data }) => {',
    '  const { params } = JSON.parse(data)',
    '  if (params) console.log(`Block ${Number(params.result.number)} is ${params.result.hash}`)',
    '}',
    'socket.onclose = ({ code, reason }) => console.error(`The connection was closed: ${code} ${reason}`)',
  ],
  call: [`const result = await call(${jsArguments(given, '...')})`, jsPrint],
})

interface Program {
  readonly uses: readonly string[]
  readonly lines: readonly string[]
}

const ours = ({ account, block, contract, symbol }: ReadOptions): Readonly<Record<SnippetMethod, Program>> => ({
  latestBlock: {
    uses: ['getBlock'],
    lines: ['const block = await getBlock(client)', 'console.log(`Block ${block.number} is ${block.hash}`)'],
  },
  blockByNumber: {
    uses: ['getBlock'],
    lines: [
      `const block = await getBlock(client, { block: ${block} })`,
      'console.log(`Block ${block.number} is ${block.hash}, with ${block.transactions.length} transactions`)',
    ],
  },
  balance: {
    uses: ['getBalance'],
    lines: [
      `const account = '${account}'`,
      'const balance = await getBalance(client, { address: account })',
      `console.log(\`\${account} holds \${Number(balance) / 1e18} ${symbol}\`)`,
    ],
  },
  transaction: {
    uses: ['getBlock', 'getTransaction'],
    lines: [
      'const { transactions } = await getBlock(client)',
      'const hash = transactions[0] // or another hash',
      'if (hash === undefined) {',
      "  console.log('The latest block has no transactions')",
      '} else {',
      '  const { from, to, value } = await getTransaction(client, { hash })',
      `  console.log(\`\${hash} pays \${Number(value) / 1e18} ${symbol} from \${from} to \${to}\`)`,
      '}',
    ],
  },
  receipt: {
    uses: ['getBlock', 'getTransactionReceipt'],
    lines: [
      'const { transactions } = await getBlock(client)',
      'const hash = transactions[0] // or another hash',
      'if (hash === undefined) {',
      "  console.log('The latest block has no transactions')",
      '} else {',
      '  const { status, blockNumber, gasUsed } = await getTransactionReceipt(client, { hash })',
      "  const end = status === 'success' ? 'succeeded' : 'failed'",
      '  console.log(`${hash} ${end} in block ${blockNumber} and used ${gasUsed} gas`)',
      '}',
    ],
  },
  contractLogs: {
    uses: ['getBlockNumber', 'getLogs'],
    lines: [
      `const address = '${contract}'`,
      'const toBlock = await getBlockNumber(client)',
      'const logs = await getLogs(client, { address, fromBlock: toBlock > 99n ? toBlock - 99n : 0n, toBlock })',
      'console.log(`${logs.length} logs in the latest 100 blocks`)',
      'for (const log of logs) console.log(`Block ${log.blockNumber}: ${log.topics[0]}`)',
    ],
  },
  contractRead: {
    uses: ['call', 'getCode'],
    lines: [
      `const address = '${contract}'`,
      "if ((await getCode(client, { address })) === '0x') {",
      '  console.log(`There is no contract at ${address}`)',
      '} else {',
      "  const supply = await call(client, { to: address, data: '0x18160ddd' }) // totalSupply()",
      '  console.log(`Total supply: ${BigInt(supply)} of the smallest unit`)',
      '}',
    ],
  },
  gasPrice: {
    uses: ['getGasPrice'],
    lines: [
      'console.log(`Gas price: ${await getGasPrice(client)} wei`)',
      'console.log(`Priority fee: ${Number(await client.eth_maxPriorityFeePerGas())} wei`)',
    ],
  },
  sendRawTransaction: {
    uses: ['sendRawTransaction', 'waitForTransactionReceipt'],
    lines: [
      ...signed,
      '',
      'const hash = await sendRawTransaction(client, { transaction: signed })',
      'console.log(`Sent ${hash}`)',
      'const { blockNumber } = await waitForTransactionReceipt(client, { hash })',
      'console.log(`It is in block ${blockNumber}`)',
    ],
  },
  chainId: { uses: ['getChainId'], lines: ['console.log(`Chain id: ${await getChainId(client)}`)'] },
  subscribeBlocks: {
    uses: ['subscribe'],
    lines: [
      'for await (const event of subscribe(client, { blocks: true })) {',
      "  if (event.type === 'block') console.log(`Block ${event.block.number} is ${event.block.hash}`)",
      '  else console.log(`The blocks above ${event.ancestor.number} were replaced`)',
      '}',
    ],
  },
})

/** Writes JavaScript programs with fetch, or with the client of @keyrail/fetch. */
export function writeFetch(options: ReadOptions): Written {
  const subscribes = options.method === 'subscribeBlocks'
  const common = {
    ...inNode('mjs'),
    ...(options.method === 'sendRawTransaction' && { environment: [signedTransaction] }),
  }
  if (!options.withKeyrail || options.method === 'call') {
    const lines = paragraphs(
      [...jsEndpoint(options), `const url = ${jsUrl(options)}`],
      subscribes ? [] : call,
      plain(options)[options.method],
    )
    return { ...common, lines }
  }
  const { uses, lines } = ours(options)[options.method]
  const names = [...uses, 'createClient', ...(subscribes ? ['webSocket'] : [])].sort()
  return {
    ...common,
    lines: paragraphs(
      [`import { ${names.join(', ')} } from '@keyrail/fetch'`],
      [...jsEndpoint(options), `const client = createClient(${jsOptions(options)})`],
      lines,
      subscribes ? [] : ['client.close()'],
    ),
    install: 'npm install @keyrail/core @keyrail/fetch',
  }
}
