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

const programs = ({
  account,
  block,
  contract,
  symbol,
  call,
}: ReadOptions): Readonly<Record<ProgramId, readonly string[]>> => ({
  latestBlock: [
    "const block = await web3.eth.getBlock('latest')",
    'console.log(`Block ${block.number} is ${block.hash}`)',
  ],
  blockByNumber: [
    `const block = await web3.eth.getBlock(${block})`,
    'console.log(`Block ${block.number} is ${block.hash}, with ${block.transactions?.length ?? 0} transactions`)',
  ],
  balance: [
    `const account = '${account}'`,
    'const balance = await web3.eth.getBalance(account)',
    `console.log(\`\${account} holds \${web3.utils.fromWei(balance, 'ether')} ${symbol}\`)`,
  ],
  transaction: [
    "const { transactions = [] } = await web3.eth.getBlock('latest')",
    'const hash = transactions[0] // or another hash',
    'if (hash === undefined) {',
    "  console.log('The latest block has no transactions')",
    '} else {',
    '  const { from, to, value } = await web3.eth.getTransaction(hash)',
    `  console.log(\`\${hash} pays \${web3.utils.fromWei(value, 'ether')} ${symbol} from \${from} to \${to}\`)`,
    '}',
  ],
  receipt: [
    "const { transactions = [] } = await web3.eth.getBlock('latest')",
    'const hash = transactions[0] // or another hash',
    'if (hash === undefined) {',
    "  console.log('The latest block has no transactions')",
    '} else {',
    '  const { status, blockNumber, gasUsed } = await web3.eth.getTransactionReceipt(hash)',
    "  console.log(`${hash} ${status ? 'succeeded' : 'failed'} in block ${blockNumber} and used ${gasUsed} gas`)",
    '}',
  ],
  contractLogs: [
    `const address = '${contract}'`,
    'const toBlock = await web3.eth.getBlockNumber()',
    'const fromBlock = toBlock > 99n ? toBlock - 99n : 0n',
    'const logs = await web3.eth.getPastLogs({ address, fromBlock, toBlock })',
    'console.log(`${logs.length} logs in the latest 100 blocks`)',
    'for (const log of logs) console.log(`Block ${log.blockNumber}: ${log.topics[0]}`)',
  ],
  contractRead: [
    `const address = '${contract}'`,
    'const totalSupply = {',
    "  type: 'function',",
    "  name: 'totalSupply',",
    "  stateMutability: 'view',",
    '  inputs: [],',
    "  outputs: [{ type: 'uint256' }],",
    '}',
    'const token = new web3.eth.Contract([totalSupply], address)',
    "if ((await web3.eth.getCode(address)) === '0x') {",
    '  console.log(`There is no contract at ${address}`)',
    '} else {',
    '  console.log(`Total supply: ${await token.methods.totalSupply().call()} of the smallest unit`)',
    '}',
  ],
  gasPrice: [
    'const { gasPrice, maxPriorityFeePerGas, maxFeePerGas } = await web3.eth.calculateFeeData()',
    'console.log(`Gas price: ${gasPrice} wei`)',
    'console.log(`Priority fee: ${maxPriorityFeePerGas} wei, at most ${maxFeePerGas} wei in all`)',
  ],
  sendRawTransaction: [
    "const privateKey = process.env['PRIVATE_KEY'] ?? ''",
    'const { address } = web3.eth.accounts.privateKeyToAccount(privateKey)',
    'const { maxPriorityFeePerGas, maxFeePerGas } = await web3.eth.calculateFeeData()',
    'const transaction = { from: address, to: address, value: 0n, gas: 21_000n, maxPriorityFeePerGas, maxFeePerGas }',
    'const signed = await web3.eth.accounts.signTransaction(transaction, privateKey)',
    '',
    'console.log(`Sending ${signed.transactionHash}`)',
    'const { transactionHash, blockNumber } = await web3.eth.sendSignedTransaction(signed.rawTransaction)',
    'console.log(`Sent ${transactionHash}`)',
    'console.log(`It is in block ${blockNumber}`)',
  ],
  chainId: ['console.log(`Chain id: ${await web3.eth.getChainId()}`)'],
  subscribeBlocks: [
    "const blocks = await web3.eth.subscribe('newBlockHeaders')",
    "blocks.on('data', (block) => console.log(`Block ${block.number} is ${block.hash}`))",
    "blocks.on('error', (error) => console.error(error.message))",
  ],
  call: [`const result = await web3.requestManager.send(${jsRequest(call)})`, jsPrint],
})

/** Writes JavaScript programs with web3.js. */
export function writeWeb3(options: ReadOptions): Written {
  const { withKeyrail } = options
  const subscribes = options.method === 'subscribeBlocks'
  return {
    lines: paragraphs(
      [
        ...(withKeyrail && subscribes ? [importWebSocket] : []),
        ...(withKeyrail ? ["import { KeyrailProvider } from '@keyrail/web3'"] : []),
        "import { Web3 } from 'web3'",
      ],
      [
        ...jsEndpoint(options),
        ...(withKeyrail
          ? [`const provider = new KeyrailProvider(${jsOptions(options)})`, 'const web3 = new Web3(provider)']
          : [`const web3 = new Web3(${jsUrl(options)})`]),
      ],
      programs(options)[options.method],
      withKeyrail && !subscribes ? ['provider.disconnect()'] : [],
    ),
    ...inNode('mjs'),
    install: withKeyrail ? 'npm install @keyrail/core @keyrail/web3 web3@4' : 'npm install web3@4',
    ...(options.method === 'sendRawTransaction' && { environment: [privateKey] }),
  }
}
