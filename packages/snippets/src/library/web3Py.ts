import type { ProgramId, ReadOptions } from '../readOptions.ts'
import { keyPath, paragraphs, privateKey, runWith, toJson, urlVariable } from './writer.ts'
import type { Written } from './writer.ts'

/** A JSON value as code. JSON strings and numbers are valid in Python. */
const toPython = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(toPython).join(', ')}]`
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return toJson(value)
  return `{${Object.entries(value)
    .map(([name, member]) => `${toJson(name)}: ${toPython(member)}`)
    .join(', ')}}`
}

const programs = ({
  account,
  block,
  contract,
  symbol,
  call,
}: ReadOptions): Readonly<Record<ProgramId, readonly string[]>> => ({
  latestBlock: [
    'block = w3.eth.get_block("latest")',
    "print(f\"Block {block['number']} is {block['hash'].to_0x_hex()}\")",
  ],
  blockByNumber: [
    `block = w3.eth.get_block(${block})`,
    'count = len(block["transactions"])',
    "print(f\"Block {block['number']} is {block['hash'].to_0x_hex()}, with {count} transactions\")",
  ],
  balance: [
    `account = Web3.to_checksum_address("${account}")`,
    'balance = w3.eth.get_balance(account)',
    `print(f"{account} holds {w3.from_wei(balance, 'ether')} ${symbol}")`,
  ],
  transaction: [
    'transactions = w3.eth.get_block("latest")["transactions"]',
    'if not transactions:',
    '    print("The latest block has no transactions")',
    'else:',
    '    hash = transactions[0].to_0x_hex()  # or another hash',
    '    sent = w3.eth.get_transaction(hash)',
    '    value = w3.from_wei(sent["value"], "ether")',
    `    print(f"{hash} pays {value} ${symbol} from {sent['from']} to {sent.get('to')}")`,
  ],
  receipt: [
    'transactions = w3.eth.get_block("latest")["transactions"]',
    'if not transactions:',
    '    print("The latest block has no transactions")',
    'else:',
    '    hash = transactions[0].to_0x_hex()  # or another hash',
    '    receipt = w3.eth.get_transaction_receipt(hash)',
    '    end = "succeeded" if receipt["status"] == 1 else "failed"',
    "    print(f\"{hash} {end} in block {receipt['blockNumber']} and used {receipt['gasUsed']} gas\")",
  ],
  contractLogs: [
    `address = Web3.to_checksum_address("${contract}")`,
    'head = w3.eth.block_number',
    'logs = w3.eth.get_logs({"address": address, "fromBlock": max(0, head - 99), "toBlock": head})',
    'print(f"{len(logs)} logs in the latest 100 blocks")',
    'for log in logs:',
    "    print(f\"Block {log['blockNumber']}: {log['topics'][0].to_0x_hex()}\")",
  ],
  contractRead: [
    `address = Web3.to_checksum_address("${contract}")`,
    'total_supply = {',
    '    "type": "function",',
    '    "name": "totalSupply",',
    '    "stateMutability": "view",',
    '    "inputs": [],',
    '    "outputs": [{"name": "", "type": "uint256"}],',
    '}',
    'token = w3.eth.contract(address=address, abi=[total_supply])',
    'if not w3.eth.get_code(address):',
    '    print(f"There is no contract at {address}")',
    'else:',
    '    print(f"Total supply: {token.functions.totalSupply().call()} of the smallest unit")',
  ],
  gasPrice: ['print(f"Gas price: {w3.eth.gas_price} wei")', 'print(f"Priority fee: {w3.eth.max_priority_fee} wei")'],
  sendRawTransaction: [
    'account = w3.eth.account.from_key(os.environ["PRIVATE_KEY"])',
    'priority_fee = w3.eth.max_priority_fee',
    'transaction = {',
    '    "to": account.address,',
    '    "value": 0,',
    '    "nonce": w3.eth.get_transaction_count(account.address, "pending"),',
    '    "gas": 21_000,',
    '    "maxPriorityFeePerGas": priority_fee,',
    '    "maxFeePerGas": 2 * w3.eth.gas_price + priority_fee,',
    '    "chainId": w3.eth.chain_id,',
    '}',
    'signed = account.sign_transaction(transaction)',
    '',
    'hash = w3.eth.send_raw_transaction(signed.raw_transaction)',
    'print(f"Sent {hash.to_0x_hex()}")',
    'receipt = w3.eth.wait_for_transaction_receipt(hash)',
    'print(f"It is in block {receipt[\'blockNumber\']}")',
  ],
  chainId: ['print(f"Chain id: {w3.eth.chain_id}")'],
  // Asynchronous, which `writeSubscription` writes.
  subscribeBlocks: [],
  call: [
    `result = w3.manager.request_blocking(${toJson(call.method)}, ${toPython(call.params)})`,
    'print(Web3.to_json(result))',
  ],
})

/** The name of the variable with the URL, and of the option for it. */
const urlName = ({ address }: ReadOptions): string => (address.kind === 'app' ? 'base_url' : 'rpc_url')

const readEndpoint = (options: ReadOptions): string =>
  `${urlName(options)}, api_key = os.environ["${urlVariable(options)}"], os.environ["KEYRAIL_API_KEY"]`

/** Writes the program that subscribes. Only web3.py's own provider has subscriptions. */
function writeSubscription(options: ReadOptions): Written {
  return {
    lines: paragraphs(
      ['import asyncio', 'import os'],
      ['from web3 import AsyncWeb3, WebSocketProvider', 'from websockets.exceptions import ConnectionClosed'],
      [readEndpoint(options), `url = f"{${urlName(options)}.replace('http', 'ws', 1)}${keyPath(options)}{api_key}"`],
      [
        '',
        'async def main():',
        '    # Connects again if the connection is lost.',
        '    async for w3 in AsyncWeb3(WebSocketProvider(url)):',
        '        try:',
        '            await w3.eth.subscribe("newHeads")',
        '            async for message in w3.socket.process_subscriptions():',
        '                block = message["result"]',
        "                print(f\"Block {block['number']} is {block['hash'].to_0x_hex()}\", flush=True)",
        '        except ConnectionClosed:',
        '            continue',
      ],
      ['', 'asyncio.run(main())'],
    ),
    extension: 'py',
    run: runWith('python3'),
    install: 'pip install web3',
  }
}

/** Writes Python programs with web3.py. */
export function writeWeb3Py(options: ReadOptions): Written {
  if (options.method === 'subscribeBlocks') return writeSubscription(options)
  const { withKeyrail, method } = options
  const url = urlName(options)
  const sends = method === 'sendRawTransaction'
  return {
    lines: paragraphs(
      ['import os'],
      [...(withKeyrail ? ['from keyrail import KeyrailProvider'] : []), 'from web3 import Web3'],
      [
        readEndpoint(options),
        ...(withKeyrail
          ? [`provider = KeyrailProvider(${url}=${url}, api_key=api_key)`, 'w3 = Web3(provider)']
          : [`w3 = Web3(Web3.HTTPProvider(f"{${url}}${keyPath(options)}{api_key}"))`]),
      ],
      programs(options)[method],
      withKeyrail ? ['provider.close()'] : [],
    ),
    extension: 'py',
    run: runWith('python3'),
    install: withKeyrail ? 'pip install keyrail web3' : 'pip install web3',
    ...(sends && { environment: [privateKey] }),
  }
}
