import type { ProgramId, ReadOptions } from '../readOptions.ts'
import {
  importWebSocket,
  jsRequest,
  jsEndpoint,
  jsOptions,
  jsPrint,
  jsUrl,
  paragraphs,
  privateKey,
  inNode,
} from './writer.ts'
import type { Written } from './writer.ts'

interface Program {
  readonly uses?: readonly string[]
  readonly imports?: readonly string[]
  readonly lines: readonly string[]
}

/** The names of viem's chains, by the names that Keyrail has for their networks. An operator may give any other name to any chain. */
const viemChains: Readonly<Record<string, string>> = {
  'arbitrum-one': 'arbitrum',
  'arbitrum-sepolia': 'arbitrumSepolia',
  'base-mainnet': 'base',
  'base-sepolia': 'baseSepolia',
  'bnb-mainnet': 'bsc',
  'ethereum-hoodi': 'hoodi',
  'ethereum-mainnet': 'mainnet',
  'ethereum-sepolia': 'sepolia',
  'gnosis-mainnet': 'gnosis',
  'optimism-mainnet': 'optimism',
  'optimism-sepolia': 'optimismSepolia',
  'polygon-mainnet': 'polygon',
}

const programs = ({ account, block, contract, symbol, call }: ReadOptions): Readonly<Record<ProgramId, Program>> => ({
  latestBlock: {
    lines: ['const block = await client.getBlock()', 'console.log(`Block ${block.number} is ${block.hash}`)'],
  },
  blockByNumber: {
    lines: [
      `const block = await client.getBlock({ blockNumber: ${block}n })`,
      'console.log(`Block ${block.number} is ${block.hash}, with ${block.transactions.length} transactions`)',
    ],
  },
  balance: {
    uses: ['formatEther'],
    lines: [
      `const account = '${account}'`,
      'const balance = await client.getBalance({ address: account })',
      `console.log(\`\${account} holds \${formatEther(balance)} ${symbol}\`)`,
    ],
  },
  transaction: {
    uses: ['formatEther'],
    lines: [
      'const { transactions } = await client.getBlock()',
      'const hash = transactions[0] // or another hash',
      'if (hash === undefined) {',
      "  console.log('The latest block has no transactions')",
      '} else {',
      '  const { from, to, value } = await client.getTransaction({ hash })',
      `  console.log(\`\${hash} pays \${formatEther(value)} ${symbol} from \${from} to \${to}\`)`,
      '}',
    ],
  },
  receipt: {
    lines: [
      'const { transactions } = await client.getBlock()',
      'const hash = transactions[0] // or another hash',
      'if (hash === undefined) {',
      "  console.log('The latest block has no transactions')",
      '} else {',
      '  const { status, blockNumber, gasUsed } = await client.getTransactionReceipt({ hash })',
      "  const end = status === 'success' ? 'succeeded' : 'failed'",
      '  console.log(`${hash} ${end} in block ${blockNumber} and used ${gasUsed} gas`)',
      '}',
    ],
  },
  contractLogs: {
    lines: [
      `const address = '${contract}'`,
      'const toBlock = await client.getBlockNumber()',
      'const logs = await client.getLogs({ address, fromBlock: toBlock > 99n ? toBlock - 99n : 0n, toBlock })',
      'console.log(`${logs.length} logs in the latest 100 blocks`)',
      'for (const log of logs) console.log(`Block ${log.blockNumber}: ${log.topics[0]}`)',
    ],
  },
  contractRead: {
    uses: ['parseAbi'],
    lines: [
      `const address = '${contract}'`,
      "const abi = parseAbi(['function totalSupply() view returns (uint256)'])",
      'if ((await client.getCode({ address })) === undefined) {',
      '  console.log(`There is no contract at ${address}`)',
      '} else {',
      "  const supply = await client.readContract({ address, abi, functionName: 'totalSupply' })",
      '  console.log(`Total supply: ${supply} of the smallest unit`)',
      '}',
    ],
  },
  gasPrice: {
    lines: [
      'const { maxPriorityFeePerGas, maxFeePerGas } = await client.estimateFeesPerGas()',
      'console.log(`Gas price: ${await client.getGasPrice()} wei`)',
      'console.log(`Priority fee: ${maxPriorityFeePerGas} wei, at most ${maxFeePerGas} wei in all`)',
    ],
  },
  sendRawTransaction: {
    imports: ["import { privateKeyToAccount } from 'viem/accounts'"],
    lines: [
      "const account = privateKeyToAccount(process.env['PRIVATE_KEY'] as `0x${string}`)",
      "const request = { account, to: account.address, value: 0n, type: 'eip1559' } as const",
      'const transaction = await client.prepareTransactionRequest({ ...request, chain: null })',
      'const signed = await account.signTransaction(transaction)',
      '',
      'const hash = await client.sendRawTransaction({ serializedTransaction: signed })',
      'console.log(`Sent ${hash}`)',
      'const { blockNumber } = await client.waitForTransactionReceipt({ hash })',
      'console.log(`It is in block ${blockNumber}`)',
    ],
  },
  chainId: { lines: ['console.log(`Chain id: ${await client.getChainId()}`)'] },
  subscribeBlocks: {
    lines: [
      'client.watchBlocks({',
      '  onBlock: (block) => console.log(`Block ${block.number} is ${block.hash}`),',
      '  onError: (error) => console.error(error.message),',
      '})',
    ],
  },
  // The types of viem know only standard methods.
  call: { lines: [`const result = await client.request(${jsRequest(call)} as never)`, jsPrint] },
})

/** Writes TypeScript programs with viem. */
export function writeViem(options: ReadOptions): Written {
  const { uses = [], imports = [], lines } = programs(options)[options.method]
  const { withKeyrail } = options
  const subscribes = options.method === 'subscribeBlocks'
  const ownTransport = subscribes ? 'webSocket' : 'http'
  const ofViem = ['createPublicClient', ...(withKeyrail ? [] : [ownTransport]), ...uses].sort()
  const chain = viemChains[options.address.base.split('/').at(-1) ?? '']
  const chainOption = chain ? `chain: ${chain}, ` : ''
  const transport = withKeyrail ? `keyrail(${jsOptions(options)})` : `${ownTransport}(${jsUrl(options)})`
  return {
    lines: paragraphs(
      [
        ...(withKeyrail && subscribes ? [importWebSocket] : []),
        ...(withKeyrail ? ["import { keyrail } from '@keyrail/viem'"] : []),
        `import { ${ofViem.join(', ')} } from 'viem'`,
        ...(chain ? [`import { ${chain} } from 'viem/chains'`] : []),
        ...imports,
      ],
      [
        ...jsEndpoint(options),
        `const transport = ${transport}`,
        `const client = createPublicClient({ ${chainOption}transport })`,
      ],
      lines,
    ),
    ...inNode('mts'),
    install: withKeyrail ? 'npm install @keyrail/core @keyrail/viem viem@2' : 'npm install viem@2',
    ...(options.method === 'sendRawTransaction' && { environment: [privateKey] }),
  }
}
