import type { Command, ReadArguments } from './arguments/command.ts'

const help = { type: 'boolean', about: 'show this help' } as const
const json = { type: 'boolean', about: 'print the result as one line of JSON' } as const
const config = {
  type: 'string',
  value: 'FILE',
  about: 'config file of the service (default: keyrail.config.json)',
} as const

/** The endpoint options, the same for every command that makes calls. */
const endpoint = {
  'base-url': {
    type: 'string',
    value: 'URL',
    about: 'base URL of an app, up to /v2, for example http://127.0.0.1:7245/testnet (default: KEYRAIL_BASE_URL)',
  },
  'rpc-url': { type: 'string', value: 'URL', about: 'RPC URL of an API key, up to the key' },
  network: { type: 'string', value: 'NAME', about: 'name of a network, replaces {network} in the URL' },
  'key-file': {
    type: 'string',
    value: 'FILE',
    about: 'read the key from FILE (default: KEYRAIL_API_KEY, or a prompt)',
  },
  url: {
    type: 'string',
    value: 'URL',
    about: 'full URL, or the URL of a node without a key (default: KEYRAIL_URL)',
  },
} as const
const keyHint = "keys in arguments stay in the shell's history: set KEYRAIL_API_KEY, or use --key-file FILE"
const keyAsArgument = { 'api-key': keyHint, key: keyHint } as const

/** The options that select logs. */
const logFilter = {
  address: {
    type: 'string',
    value: 'ADDRESS',
    about: 'contract address; repeat it or use commas for several (default: all contracts)',
  },
  event: {
    type: 'string',
    value: 'EVENT',
    about: "event signature, as 'Transfer(address,address,uint256)'; repeat it for several",
  },
  topic0: { type: 'string', value: 'TOPIC', about: 'event hash, instead of --event; use commas for several' },
  topic1: {
    type: 'string',
    value: 'TOPIC',
    about: 'first indexed parameter: 32 bytes or an address; use commas for several',
  },
  topic2: { type: 'string', value: 'TOPIC', about: 'second indexed parameter' },
  topic3: { type: 'string', value: 'TOPIC', about: 'third indexed parameter' },
} as const

/** The options of the control API. */
const control = {
  service: {
    type: 'string',
    value: 'URL',
    about: 'URL of the dashboard (default: KEYRAIL_SERVICE_URL)',
  },
  'token-file': {
    type: 'string',
    value: 'FILE',
    about: 'read the personal access token from FILE (default: KEYRAIL_TOKEN, or a prompt)',
  },
} as const
/** The options of the actions on keys. */
const keyActions = {
  expires: { type: 'string', value: 'TIME', about: 'create, rotate: expiry, for example 2027-01-31, or never' },
  grace: { type: 'string', value: 'DAYS', about: 'rotate: how long the old key still works, 0 to 7 (default: 0)' },
  'key-file': {
    type: 'string',
    value: 'FILE',
    about: 'create, rotate, reveal: write the key to FILE, readable by you only; rotate replaces a key file',
  },
  show: { type: 'boolean', about: 'create, rotate: print the key, and nothing else, to standard output' },
} as const
const personal = {
  email: { type: 'string', value: 'EMAIL', about: 'reveal: email address of your account; prompts for the password' },
  'password-file': { type: 'string', value: 'FILE', about: 'reveal: read the password from FILE' },
} as const
const tokenHint = "tokens in arguments stay in the shell's history: set KEYRAIL_TOKEN, or use --token-file FILE"
const secretAsArgument = {
  token: tokenHint,
  password: "passwords in arguments stay in the shell's history: enter it at the prompt, or use --password-file FILE",
} as const
const controlNotes = [
  'Create a token in the dashboard, under Account, with the scopes read and SCOPE. A new key is shown only once:\nadd --key-file or --show. reveal needs your password instead of a token.',
  'Exit codes: 0 success; 1 rejected by the service; 2 invalid usage; 3 no response.',
] as const

/** Every command, in the order of the help. The implementation is imported when the command runs, which keeps the start fast. */
export const commands: readonly Command[] = [
  {
    name: 'dev',
    usage: 'dev [--networks NAMES] [--port N] [--data DIR] [--env FILE] [--once] [--json]',
    about: 'Run the service locally, with embedded nodes, an app and API keys.',
    options: {
      networks: {
        type: 'string',
        value: 'NAMES',
        about: 'well-known networks, separated by commas, each with its own node (default: testnet,mainnet)',
      },
      port: {
        type: 'string',
        value: 'N',
        about: 'port on 127.0.0.1 (default: 7245, or a free one if that is in use)',
      },
      data: {
        type: 'string',
        value: 'DIR',
        about: 'folder for the database, keys and chains (default: a temporary folder)',
      },
      env: {
        type: 'string',
        value: 'FILE',
        about: 'write KEYRAIL_BASE_URL and KEYRAIL_API_KEY of the first network to FILE, and remove it on exit',
      },
      once: { type: 'boolean', about: 'make the first calls, print them and exit, with code 1 if one fails' },
      json: { type: 'boolean', about: 'print one line of JSON when ready, including the full keys' },
      'unsafe-node-methods': {
        type: 'boolean',
        about: 'allow anvil_*, evm_* and hardhat_* methods',
      },
      help,
    },
    notes: [
      'JSON output: { url, dashboard, account: { email, password }, app: { id, apiKey, urls, wsUrls }, keys, nodes,\nchainIds }. urls, wsUrls, keys ({ apiKey, url, wsUrl }), nodes and chainIds have one entry for each network. With --once also calls.\nThe account is an operator. It has API keys on the first four networks.',
      'The test keys kr_test_401, kr_test_429, kr_test_quota and kr_test_slow simulate failures with any URL.\nPress Ctrl-C to stop, and again to stop immediately.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/dev.ts')).dev(given),
  },
  {
    name: 'call',
    usage: 'call METHOD [PARAMS…] [OPTIONS]',
    about: 'Make a JSON-RPC call and print its result as JSON.',
    options: {
      ...endpoint,
      params: { type: 'string', value: 'JSON', about: 'params as a JSON array, sent unchanged' },
      timeout: {
        type: 'string',
        value: 'MS',
        about: 'timeout in milliseconds (default: 10000, or 60000 for expensive methods)',
      },
      json: { type: 'boolean', about: 'print the result on one line' },
      help,
    },
    rejected: keyAsArgument,
    notes: [
      'A param that starts with {, [ or " is JSON, as are true, false and null. A whole decimal number becomes a hex quantity\n(12 is sent as "0xc"). Anything else is a string. Use --params to send JSON numbers.',
      'Examples:\n  keyrail call eth_getBlockByNumber latest false --base-url http://127.0.0.1:7245/testnet --key-file keys/app\n  keyrail call eth_getLogs \'{"fromBlock":"0x0"}\' --url http://127.0.0.1:8545',
      'Exit codes: 0 success; 1 rejected by the service or the node; 2 invalid usage; 3 no response.\nErrors go to standard error: the kind, what happened, and a hint.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/call.ts')).call(given),
  },
  {
    name: 'logs',
    usage: 'logs --from BLOCK [--to BLOCK] [--out FILE] [OPTIONS]',
    about: 'Export the logs of a block range to NDJSON or CSV, and resume interrupted exports.',
    options: {
      ...endpoint,
      from: {
        type: 'string',
        value: 'BLOCK',
        about: 'first block: a number, or earliest, finalized, safe or latest',
      },
      to: { type: 'string', value: 'BLOCK', about: 'last block, resolved once at the start (default: latest)' },
      ...logFilter,
      out: { type: 'string', value: 'FILE', about: 'output file (default: standard output)' },
      format: {
        type: 'string',
        value: 'NAME',
        about: 'ndjson or csv (default: csv if the file name ends with .csv, otherwise ndjson)',
      },
      overwrite: { type: 'boolean', about: 'replace an existing file' },
      'max-blocks': {
        type: 'string',
        value: 'N',
        about: 'maximum blocks per request (default: 100000; adapts to the limits of the node)',
      },
      concurrency: { type: 'string', value: 'N', about: 'concurrent calls, 1 to 64 (default: 4)' },
      json: { type: 'boolean', about: 'print a one-line JSON summary instead of progress' },
      help,
    },
    rejected: keyAsArgument,
    notes: [
      'With --out, run the same command again to resume an interrupted export, without missing or duplicate logs. The progress is\nsaved in FILE.cursor until the export is complete. Without --out, Ctrl-C prints the --from to resume with.',
      'JSON output: { finished, out, format, chainId, fromBlock, toBlock, nextBlock, logs, bytes, resumed, seconds }, on standard\noutput, or on standard error if the logs go to standard output.',
      "Examples:\n  keyrail logs --from 0 --base-url http://127.0.0.1:7245/testnet --key-file keys/app\n  keyrail logs --from 21000000 --to finalized --event 'Transfer(address,address,uint256)' --out transfers.csv",
      'Exit codes: 0 success; 1 rejected by the service or the node, or a file error; 2 invalid usage; 3 no response; 130 interrupted.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/logs.ts')).logs(given),
  },
  {
    name: 'watch',
    usage: 'watch blocks | logs [--from BLOCK] [--cursor-file FILE] [OPTIONS]',
    about: 'Print new blocks or logs as they arrive, and what a reorg removes.',
    words: ['blocks', 'logs'],
    options: {
      ...endpoint,
      from: {
        type: 'string',
        value: 'BLOCK',
        about: 'first block: a number, or earliest, finalized, safe or latest (default: the next block)',
      },
      ...logFilter,
      'cursor-file': {
        type: 'string',
        value: 'FILE',
        about: 'save the position to FILE, and resume there; --from then applies to the first run only',
      },
      json: { type: 'boolean', about: 'print one line of JSON for each event' },
      help,
    },
    rejected: keyAsArgument,
    notes: [
      'It uses a WebSocket if the endpoint has one, and polls otherwise, with the same events. It runs until Ctrl-C, also while the\nendpoint fails: failures are printed to standard error. The options that select logs are for watch logs.',
      'JSON output: { type: "block", block: { number, hash, parentHash, timestamp, gasUsed, gasLimit, baseFeePerGas } },\n{ type: "log", log } with a log as in keyrail logs, and { type: "reorg", ancestor: { number, hash }, removed }: blocks above\nancestor were replaced, and removed lists the blocks or logs that were printed of them, newest first.',
      'With --cursor-file, the same command continues after the last event that was printed. After a crash, events of the last\nsecond may be printed again. The first event can be a reorg, with nothing in removed: undo what you have above its ancestor.',
      "Examples:\n  keyrail watch blocks --base-url http://127.0.0.1:7245/testnet --key-file keys/app\n  keyrail watch logs --event 'Transfer(address,address,uint256)' --cursor-file transfers.cursor --json >> transfers.ndjson",
      'Exit codes: 0 stopped by Ctrl-C; 1 rejected by the service or the node, or a file error; 2 invalid usage; 3 no response.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/watch.ts')).watch(given),
  },
  {
    name: 'doctor',
    usage: 'doctor [OPTIONS]',
    about: 'Check an endpoint, and show how to fix each problem.',
    options: {
      ...endpoint,
      'chain-id': { type: 'string', value: 'N', about: 'expected chain id' },
      config: {
        type: 'string',
        value: 'FILE',
        about: "take the expected chain id from a service's config",
      },
      origin: {
        type: 'string',
        value: 'ORIGIN',
        about: 'check that pages of this origin can call the endpoint, as https://app.example',
      },
      calls: { type: 'string', value: 'N', about: 'calls to measure the latency with (default: 20)' },
      batch: { type: 'string', value: 'N', about: 'batch size to try, 0 to skip (default: 100)' },
      'log-range': {
        type: 'string',
        value: 'N',
        about: 'block range of eth_getLogs to try, 0 to skip (default: 10000)',
      },
      timeout: { type: 'string', value: 'MS', about: 'timeout of each call in milliseconds (default: 10000)' },
      json,
      help,
    },
    rejected: keyAsArgument,
    notes: [
      'Checks, in this order: reach, tls, key, chain, head, latency, batch, logs, cors (with --origin), limits, clock. Each result is ok,\nwarn (works, but needs attention) or fail. It makes about 130 calls, which count toward rate limits and quotas.',
      'JSON output: { redactedUrl, ok, findings: [{ check, level, text, fix, facts }] }',
      'Exit codes: 0 no check failed; 1 a check failed; 2 invalid usage; 3 no response.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/doctor.ts')).doctor(given),
  },
  {
    name: 'snippet',
    usage: 'snippet [--method NAME] [--library NAME] [OPTIONS]',
    about: 'Print an example call as a complete program.',
    options: {
      method: {
        type: 'string',
        value: 'NAME',
        values: [
          'latestBlock',
          'blockByNumber',
          'balance',
          'transaction',
          'receipt',
          'contractLogs',
          'contractRead',
          'gasPrice',
          'sendRawTransaction',
          'chainId',
          'subscribeBlocks',
        ],
        about: 'what the program does (default: latestBlock)',
      },
      language: {
        type: 'string',
        value: 'NAME',
        values: ['javascript', 'typescript', 'python', 'shell'],
        about: 'javascript, typescript, python or shell (default: the language of --library, or javascript)',
      },
      library: {
        type: 'string',
        value: 'NAME',
        values: ['ethers', 'web3', 'fetch', 'viem', 'web3.py', 'curl'],
        about: 'ethers, web3, fetch, viem, web3.py or curl (default: the first of the language)',
      },
      with: {
        type: 'string',
        value: 'keyrail',
        values: ['keyrail'],
        about: "use Keyrail's package for the library",
      },
      'base-url': endpoint['base-url'],
      'rpc-url': endpoint['rpc-url'],
      network: endpoint.network,
      account: { type: 'string', value: 'ADDRESS', about: 'balance: the account (default: the zero address)' },
      block: { type: 'string', value: 'N', about: 'blockByNumber: the block number (default: 0)' },
      contract: {
        type: 'string',
        value: 'ADDRESS',
        about: 'contractLogs, contractRead: the address of a token contract',
      },
      list: { type: 'boolean', about: 'list the methods, languages and libraries' },
      json,
      help,
    },
    rejected: keyAsArgument,
    notes: [
      'The program goes to standard output, and how to save, install and run it to standard error. The program reads the key from the\nenvironment. The default URL is that of keyrail dev.',
      'Exit codes: 0 success; 2 invalid usage.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/snippet.ts')).snippet(given),
  },
  {
    name: 'networks',
    usage: 'networks [--search TEXT] [--service URL] [--json]',
    about: 'List the networks of a service.',
    options: {
      service: control.service,
      search: {
        type: 'string',
        value: 'TEXT',
        about: 'only networks with TEXT in their title, names, symbol or chain',
      },
      json,
      help,
    },
    notes: [
      'JSON output: { chains: [{ chain, title, aliases }], networks: [{ network, chain, title, chainId, symbol, testnet, aliases,\nexplorerUrl, url }] }. url is the --base-url of apps and the --rpc-url of API keys.',
      'Exit codes: 0 success; 1 rejected by the service; 2 invalid usage; 3 no response.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/networks.ts')).networks(given),
  },
  {
    name: 'keys',
    usage: 'keys ACTION [ID|NAME] [OPTIONS]',
    about: 'Manage API keys.',
    words: ['list', 'create', 'show', 'reveal', 'rotate', 'drop-old', 'revoke'],
    options: {
      ...control,
      network: { type: 'string', value: 'NAME', about: 'create: name of the network; keyrail networks lists them' },
      description: { type: 'string', value: 'TEXT', about: 'create: description' },
      ...keyActions,
      yes: { type: 'boolean', about: 'revoke: skip the confirmation' },
      ...personal,
      json,
      help,
    },
    rejected: secretAsArgument,
    notes: [
      'Actions:\n  list              list API keys that are not revoked\n  create NAME       create an API key\n  show ID|NAME      show details, with the key masked\n  reveal ID|NAME    print the full key\n  rotate ID|NAME    replace the key with a new one\n  drop-old ID|NAME  end the grace period of the old key\n  revoke ID|NAME    revoke the key permanently',
      ...controlNotes.map((note) => note.replace('SCOPE', 'keys:write')),
    ],
    run: async (given: ReadArguments) => (await import('./commands/keys.ts')).keys(given),
  },
  {
    name: 'apps',
    usage: 'apps ACTION [ID|NAME] [OPTIONS]',
    about: 'Manage apps and their keys.',
    words: ['list', 'create', 'edit', 'show', 'reveal', 'rotate', 'drop-old', 'delete'],
    options: {
      ...control,
      search: { type: 'string', value: 'TEXT', about: 'list: only names that contain TEXT' },
      'use-case': {
        type: 'string',
        value: 'NAME',
        about: 'create, edit: use case, for example Payments (default of create: Other)',
      },
      chain: { type: 'string', value: 'NAME', about: 'create: chain (default: that of --network, or the only one)' },
      network: {
        type: 'string',
        value: 'NAMES',
        about: 'create, edit: networks, separated by commas (default of create: all networks of the chain)',
      },
      name: { type: 'string', value: 'NAME', about: 'edit: new name' },
      description: { type: 'string', value: 'TEXT', about: 'create, edit: description' },
      ...keyActions,
      yes: { type: 'boolean', about: 'delete: skip the confirmation' },
      ...personal,
      json,
      help,
    },
    rejected: secretAsArgument,
    notes: [
      'Actions:\n  list              list apps\n  create NAME       create an app\n  edit ID|NAME      change its name, use case, networks or description\n  show ID|NAME      show details, with the key masked\n  reveal ID|NAME    print the full key\n  rotate ID|NAME    replace the key with a new one\n  drop-old ID|NAME  end the grace period of the old key\n  delete ID|NAME    delete the app, its key and its allow lists',
      ...controlNotes.map((note) => note.replace('SCOPE', 'apps:write')),
    ],
    run: async (given: ReadArguments) => (await import('./commands/apps.ts')).apps(given),
  },
  {
    name: 'serve',
    usage: 'serve [--config FILE] [--check]',
    about: 'Run the service in front of your own nodes.',
    options: {
      config,
      check: { type: 'boolean', about: 'validate the config and the secret, then exit' },
      schema: { type: 'boolean', about: 'print the JSON Schema of the config, then exit' },
      grace: {
        type: 'string',
        value: 'S',
        about: 'on stop, wait up to S seconds for requests to complete (default: 10)',
      },
      help,
    },
    notes: [
      'Environment: KEYRAIL_SECRET or KEYRAIL_SECRET_FILE (required: encrypts keys), DATABASE_URL (PostgreSQL; default: the SQLite file in\nthe config), REDIS_URL, KEYRAIL_OPERATOR_TOKEN.',
      'It logs to standard output, one line of JSON per entry. SIGHUP and changes of the file reload the config. SIGTERM and Ctrl-C stop\nthe service after the requests in flight.',
      'Exit codes: 0 graceful stop; 1 cannot listen; 2 invalid config, environment or database.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/serve.ts')).serve(given),
  },
  {
    name: 'health',
    usage: 'health [--config FILE] [--timeout MS]',
    about: 'Check that the service on this machine is alive, for container health checks.',
    options: {
      config,
      timeout: { type: 'string', value: 'MS', about: 'timeout in milliseconds (default: 4000)' },
      help,
    },
    notes: [
      'It reads listen and tls from the config and requests /healthz, which does not depend on the nodes or the databases.',
      'Exit codes: 0 alive; 1 not alive, or invalid listen in the config; 2 invalid usage.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/health.ts')).health(given),
  },
  {
    name: 'users',
    usage: 'users ACTION [EMAIL] [OPTIONS]',
    about: 'Manage accounts, while the service is running.',
    words: ['list', 'invite', 'disable', 'enable', 'role', 'reset-password', 'limits'],
    options: {
      config,
      search: { type: 'string', value: 'TEXT', about: 'list: only email addresses that contain TEXT' },
      days: { type: 'string', value: 'N', about: 'invite: validity in days, 1 to 30 (default: 7)' },
      'per-second': { type: 'string', value: 'N', about: 'limits: requests per second and key, or none' },
      burst: { type: 'string', value: 'N', about: 'limits: burst size per key' },
      'per-day': { type: 'string', value: 'N', about: 'limits: requests per UTC day, or none' },
      'per-month': { type: 'string', value: 'N', about: 'limits: requests per month, or none' },
      default: { type: 'boolean', about: 'limits: reset to the defaults of the service' },
      json,
      help,
    },
    notes: [
      'Actions:\n  list                   list all accounts\n  invite [EMAIL]         print a one-time sign-up link, for anyone or only for EMAIL\n  disable EMAIL          close the sessions of an account and reject its keys, immediately\n  enable EMAIL           enable a disabled account\n  reset-password EMAIL   print a one-time link to set a new password\n  role EMAIL ROLE        set the role: user or operator\n  limits EMAIL           show or set the limits',
      'Instead of EMAIL, you can use the id of the account. No email is sent: pass the printed links on yourself.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/users.ts')).users(given),
  },
  {
    name: 'backup',
    usage: 'backup FILE [--config FILE]',
    about: "Copy the service's SQLite database, while the service is running.",
    options: { config, json, help },
    notes: [
      'FILE must not exist yet. For PostgreSQL, use pg_dump. The copy does not include the secret: back that up separately.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/backup.ts')).backup(given),
  },
  {
    name: 'restore',
    usage: 'restore FILE [--config FILE]',
    about: 'Restore a backup of the SQLite database, while the service is stopped.',
    options: { config, json, help },
    notes: [
      'The previous database is moved to a file next to it. Usage counted toward quotas since the backup is lost.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/backup.ts')).restore(given),
  },
  {
    name: 'secret',
    usage: 'secret rotate | drop-old [--config FILE]',
    about: 'Rotate the secret that encrypts stored keys, while the service is running.',
    words: ['rotate', 'drop-old'],
    options: { config, json, help },
    notes: [
      'rotate adds a new secret to the file in KEYRAIL_SECRET_FILE, before the old ones, and encrypts every key with it.\ndrop-old removes old secrets that no key needs; run it once every instance has loaded the new file.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/secret.ts')).secret(given),
  },
  {
    name: 'completion',
    usage: 'completion bash | zsh | fish',
    about: 'Print a shell completion script.',
    words: ['bash', 'zsh', 'fish'],
    options: { json, help },
    notes: [
      'bash: source <(keyrail completion bash) in ~/.bashrc\nzsh:  source <(keyrail completion zsh) in ~/.zshrc, after compinit\nfish: keyrail completion fish > ~/.config/fish/completions/keyrail.fish',
    ],
    run: async (given: ReadArguments) => (await import('./commands/completion.ts')).completion(given, commands),
  },
]
