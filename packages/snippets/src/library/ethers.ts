import type { ProgramId, ReadOptions } from '../readOptions.ts'
import {
  importWebSocket,
  jsArguments,
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
  readonly lines: readonly string[]
}

const programs = ({ account, block, contract, symbol, call }: ReadOptions): Readonly<Record<ProgramId, Program>> => ({
  latestBlock: {
    lines: ["const block = await provider.getBlock('latest')", 'console.log(`Block ${block.number} is ${block.hash}`)'],
  },
  blockByNumber: {
    lines: [
      `const block = await provider.getBlock(${block})`,
      'console.log(`Block ${block.number} is ${block.hash}, with ${block.transactions.length} transactions`)',
    ],
  },
  balance: {
    uses: ['formatEther'],
    lines: [
      `const account = '${account}'`,
      'const balance = await provider.getBalance(account)',
      `console.log(\`\${account} holds \${formatEther(balance)} ${symbol}\`)`,
    ],
  },
  transaction: {
    uses: ['formatEther'],
    lines: [
      "const { transactions } = await provider.getBlock('latest')",
      'const hash = transactions[0] // or another hash',
      'if (hash === undefined) {',
      "  console.log('The latest block has no transactions')",
      '} else {',
      '  const { from, to, value } = await provider.getTransaction(hash)',
      `  console.log(\`\${hash} pays \${formatEther(value)} ${symbol} from \${from} to \${to}\`)`,
      '}',
    ],
  },
  receipt: {
    lines: [
      "const { transactions } = await provider.getBlock('latest')",
      'const hash = transactions[0] // or another hash',
      'if (hash === undefined) {',
      "  console.log('The latest block has no transactions')",
      '} else {',
      '  const { status, blockNumber, gasUsed } = await provider.getTransactionReceipt(hash)',
      "  console.log(`${hash} ${status === 1 ? 'succeeded' : 'failed'} in block ${blockNumber} and used ${gasUsed} gas`)",
      '}',
    ],
  },
  contractLogs: {
    lines: [
      `const address = '${contract}'`,
      'const toBlock = await provider.getBlockNumber()',
      'const logs = await provider.getLogs({ address, fromBlock: Math.max(0, toBlock - 99), toBlock })',
      'console.log(`${logs.length} logs in the latest 100 blocks`)',
      'for (const log of logs) console.log(`Block ${log.blockNumber}: ${log.topics[0]}`)',
    ],
  },
  contractRead: {
    uses: ['Contract'],
    lines: [
      `const address = '${contract}'`,
      "const token = new Contract(address, ['function totalSupply() view returns (uint256)'], provider)",
      "if ((await provider.getCode(address)) === '0x') {",
      '  console.log(`There is no contract at ${address}`)',
      '} else {',
      '  console.log(`Total supply: ${await token.totalSupply()} of the smallest unit`)',
      '}',
    ],
  },
  gasPrice: {
    lines: [
      'const { gasPrice, maxPriorityFeePerGas, maxFeePerGas } = await provider.getFeeData()',
      'console.log(`Gas price: ${gasPrice} wei`)',
      'console.log(`Priority fee: ${maxPriorityFeePerGas} wei, at most ${maxFeePerGas} wei in all`)',
    ],
  },
  sendRawTransaction: {
    uses: ['Wallet'],
    lines: [
      "const wallet = new Wallet(process.env['PRIVATE_KEY'] ?? '', provider)",
      'const transaction = await wallet.populateTransaction({ to: wallet.address, value: 0n })',
      'const signed = await wallet.signTransaction(transaction)',
      '',
      'const sent = await provider.broadcastTransaction(signed)',
      'console.log(`Sent ${sent.hash}`)',
      'const { blockNumber } = await sent.wait()',
      'console.log(`It is in block ${blockNumber}`)',
    ],
  },
  chainId: {
    lines: ['const { chainId } = await provider.getNetwork()', 'console.log(`Chain id: ${chainId}`)'],
  },
  subscribeBlocks: {
    lines: [
      "await provider.on('block', async (number) => {",
      '  const block = await provider.getBlock(number)',
      '  console.log(`Block ${block.number} is ${block.hash}`)',
      '})',
    ],
  },
  call: { lines: [`const result = await provider.send(${jsArguments(call)})`, jsPrint] },
})

/** Writes JavaScript programs with ethers. */
export function writeEthers(options: ReadOptions): Written {
  const { uses = [], lines } = programs(options)[options.method]
  const { withKeyrail } = options
  const subscribes = options.method === 'subscribeBlocks'
  const ownProvider = subscribes ? 'WebSocketProvider' : 'JsonRpcProvider'
  const imports = [...(withKeyrail ? [] : [ownProvider]), ...uses].sort()
  return {
    lines: paragraphs(
      [
        ...(withKeyrail && subscribes ? [importWebSocket] : []),
        ...(withKeyrail ? ["import { KeyrailProvider } from '@keyrail/ethers'"] : []),
        ...(imports.length > 0 ? [`import { ${imports.join(', ')} } from 'ethers'`] : []),
      ],
      [
        ...jsEndpoint(options),
        withKeyrail
          ? `const provider = new KeyrailProvider(${jsOptions(options)})`
          : `const provider = new ${ownProvider}(${jsUrl(options)})`,
      ],
      lines,
      subscribes ? [] : ['provider.destroy()'],
    ),
    ...inNode('mjs'),
    install: withKeyrail ? 'npm install @keyrail/core @keyrail/ethers ethers@6' : 'npm install ethers@6',
    ...(options.method === 'sendRawTransaction' && { environment: [privateKey] }),
  }
}
