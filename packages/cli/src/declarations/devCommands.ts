import { flag, option } from '../arguments/command.ts'
import type { Command, ReadArguments } from '../arguments/command.ts'
import { help } from '../sharedOptions.ts'

/** Commands for local development. */
export const devCommands: readonly Command[] = [
  {
    name: 'dev',
    usage:
      'dev [--networks NAMES | --fork URL] [--port N] [--data DIR | --ephemeral] [--env FILE] [--block-time SECONDS]\n  [--once] [--verbose | --json]',
    about: 'Run the service locally, with embedded nodes, an app and API keys.',
    options: {
      networks: option(
        'NAMES',
        'well-known networks, separated by commas, each with its own node (default: testnet,mainnet)',
      ),
      fork: option('URL', 'URL of a node: continue its chain instead of a new one (default: KEYRAIL_FORK_URL)'),
      'fork-block': option('N', 'last block to take from --fork (default: its latest block)'),
      port: option('N', 'port on 127.0.0.1 (default: 7245, or a free one if that is in use)'),
      data: option('DIR', 'folder for the database, keys and chains (default: .keyrail)'),
      ephemeral: flag('use a temporary folder, removed on exit: new keys and chains at each start'),
      env: option(
        'FILE',
        'write KEYRAIL_BASE_URL and KEYRAIL_API_KEY of the first network to FILE, and remove it on exit',
      ),
      once: flag('make the first calls, print them and exit, with code 1 if one fails'),
      'block-time': option(
        'SECONDS',
        'mine a block every few seconds, and for each transaction; nodes keep the state of the latest 64 blocks',
      ),
      verbose: flag('also print the calls in full, all URLs, the funded accounts, the token and a program'),
      json: flag(
        'print one line of JSON when ready, including the full keys; if a service runs with the data folder, print its line',
      ),
      'unsafe-node-methods': flag('allow anvil_*, evm_* and hardhat_* methods'),
      help,
    },
    notes: [
      'JSON output: { url, dashboard, account: { email, password }, app: { id, apiKey, urls, wsUrls }, keys, nodes,\nchainIds, fundedAccounts, tokens }. urls, wsUrls, keys ({ apiKey, url, wsUrl }), nodes, chainIds and tokens have one entry for each\nnetwork. With --once also calls, with --fork also fork ({ redactedUrl, blockNumber }).\nThe account is an operator. It has API keys on the first four networks.',
      'The test keys kr_test_401, kr_test_429, kr_test_quota and kr_test_slow simulate failures with any URL.\nWeb pages can use them only from localhost, 127.0.0.1 and [::1].\nPress Ctrl-C to stop, and again to stop immediately.',
    ],
    examples: [
      'keyrail dev --networks ethereum,base',
      'KEYRAIL_FORK_URL=https://node.example/mainnet/v2/kr_… keyrail dev',
    ],
    run: async (given: ReadArguments) => (await import('../commands/dev.ts')).dev(given),
  },
]
