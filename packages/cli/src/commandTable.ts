import type { Command, ReadArguments } from './arguments/command.ts'

const help = { type: 'boolean', about: 'show this' } as const
const json = { type: 'boolean', about: 'print one line of JSON' } as const
const config = {
  type: 'string',
  value: 'FILE',
  about: "the service's config (default: keyrail.config.json)",
} as const

/** Where a call goes: the same for every command that makes one. */
const address = {
  'base-url': {
    type: 'string',
    value: 'URL',
    about: "an app's address up to /v2, for example http://127.0.0.1:7245/testnet (default: KEYRAIL_BASE_URL)",
  },
  'rpc-url': { type: 'string', value: 'URL', about: "an API key's address up to the key" },
  network: {
    type: 'string',
    value: 'NAME',
    values: ['testnet', 'mainnet'],
    about: 'testnet or mainnet: takes the place of {network} in the URL',
  },
  'key-file': {
    type: 'string',
    value: 'FILE',
    about: 'the file that holds the key (default: the key in KEYRAIL_API_KEY, else it is asked for)',
  },
  url: {
    type: 'string',
    value: 'URL',
    about: 'a whole address, or a node that needs no key (default: KEYRAIL_URL)',
  },
} as const
const stays =
  'a key on the command line stays in the history: put it in KEYRAIL_API_KEY, or in a file named by --key-file'
const keyAsArgument = { 'api-key': stays, key: stays } as const

/** Which service's control API is asked, and who asks. */
const control = {
  service: {
    type: 'string',
    value: 'URL',
    about: 'the address of the dashboard (default: KEYRAIL_SERVICE_URL)',
  },
  'token-file': {
    type: 'string',
    value: 'FILE',
    about: 'the file that holds a personal access token (default: KEYRAIL_TOKEN, else it is asked for)',
  },
} as const
/** What all that is done to keys takes. */
const keyActions = {
  expires: { type: 'string', value: 'TIME', about: 'create, rotate: when the key ends, as 2027-01-31, or never' },
  grace: { type: 'string', value: 'DAYS', about: 'rotate: how long the old key goes on working, 0 to 7 (default: 0)' },
  'key-file': {
    type: 'string',
    value: 'FILE',
    about: 'create, rotate, reveal: put the key there, for its owner alone; rotate replaces a file that holds a key',
  },
  show: { type: 'boolean', about: 'create, rotate: print the key, alone on standard output' },
} as const
const personal = {
  email: { type: 'string', value: 'EMAIL', about: 'reveal: whose account it is; the password is asked for' },
  'password-file': { type: 'string', value: 'FILE', about: 'reveal: the file that holds the password' },
} as const
const network = {
  type: 'string',
  value: 'NAME',
  values: ['testnet', 'mainnet'],
} as const
const stayTokens =
  'a token on the command line stays in the history: put it in KEYRAIL_TOKEN, or in a file named by --token-file'
const secretAsArgument = {
  token: stayTokens,
  password: 'a password on the command line stays in the history: type it when you are asked, or use --password-file',
} as const
const controlNotes = [
  'A token comes from the dashboard, under Account: of the scopes read and SCOPE. A new key is shown once, so\nit must be said where it goes. To have one shown again takes a person: reveal logs in for that, and out again.',
  'Exit codes: 0 done; 1 the service rejected; 2 wrong usage; 3 no answer.',
] as const

/** Every command, in the order of the help. What a command does is loaded when it is run, so that none pays for another. */
export const commands: readonly Command[] = [
  {
    name: 'dev',
    usage: 'dev [--port N] [--data DIR] [--env FILE] [--once] [--json]',
    about: 'Run the service on this machine: two embedded nodes, an app and two API keys.',
    options: {
      port: {
        type: 'string',
        value: 'N',
        about: 'listen on this port of 127.0.0.1 (default: 7245, or a free one where that is taken)',
      },
      data: {
        type: 'string',
        value: 'DIR',
        about: 'keep the database, keys and chains in this folder (default: a temporary one)',
      },
      env: {
        type: 'string',
        value: 'FILE',
        about: 'while it serves, keep KEYRAIL_BASE_URL and KEYRAIL_API_KEY of the testnet in this file',
      },
      once: { type: 'boolean', about: 'make the first calls, print them, stop; exit code 1 if one fails' },
      json: { type: 'boolean', about: 'print one line of JSON once ready, whole keys included' },
      'unsafe-node-methods': {
        type: 'boolean',
        about: "let the nodes' own methods through: anvil_*, evm_*, hardhat_*",
      },
      help,
    },
    notes: [
      'The line of --json: { url, dashboard, account: { email, password }, app: { id, apiKey, addresses: { testnet, mainnet } },\nkeys: { testnet: { apiKey, address }, mainnet: { apiKey, address } }, nodes: { testnet, mainnet } }; with --once also calls.\nThe account is an operator; keys that were exchanged in the dashboard are shown as they are now.',
      'The keys kr_test_401, kr_test_429, kr_test_quota and kr_test_slow rehearse failures, on any address.\nCtrl-C stops it; a second Ctrl-C stops it at once.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/dev.ts')).dev(given),
  },
  {
    name: 'call',
    usage: 'call METHOD [PARAMS…] [OPTIONS]',
    about: 'Make one JSON-RPC call and print its result as JSON.',
    options: {
      ...address,
      params: { type: 'string', value: 'JSON', about: 'the params as a JSON array, sent as it is' },
      timeout: {
        type: 'string',
        value: 'MS',
        about: 'give up after so many milliseconds (default: 10000, heavy methods 60000)',
      },
      json: { type: 'boolean', about: 'print the result on one line' },
      help,
    },
    rejected: keyAsArgument,
    notes: [
      'A param that starts with {, [ or " is JSON; true, false and null are themselves; a whole decimal number becomes a hex\nquantity (12 is sent as "0xc"); everything else is a string. For numbers as they are, use --params.',
      'Examples:\n  keyrail call eth_getBlockByNumber latest false --base-url http://127.0.0.1:7245/testnet --key-file keys/app\n  keyrail call eth_getLogs \'{"fromBlock":"0x0"}\' --url http://127.0.0.1:8545',
      'Exit codes: 0 the result was printed; 1 the service or the node rejected; 2 wrong usage; 3 no answer.\nA failure goes to standard error as its kind, what happened, and a hint.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/call.ts')).call(given),
  },
  {
    name: 'logs',
    usage: 'logs --from BLOCK [--to BLOCK] [--out FILE] [OPTIONS]',
    about: 'Export the logs of a range of blocks to NDJSON or CSV, and go on where it was interrupted.',
    options: {
      ...address,
      from: {
        type: 'string',
        value: 'BLOCK',
        about: 'the first block: a number, or earliest, finalized, safe or latest',
      },
      to: { type: 'string', value: 'BLOCK', about: 'the last block, found once, at the start (default: latest)' },
      address: {
        type: 'string',
        value: 'ADDRESS',
        about: 'the contract; several by commas, or given again (default: every contract)',
      },
      event: {
        type: 'string',
        value: 'EVENT',
        about: "the event, as 'Transfer(address,address,uint256)'; any of several, given again",
      },
      topic0: { type: 'string', value: 'TOPIC', about: 'in place of --event: its hash; any of several, by commas' },
      topic1: {
        type: 'string',
        value: 'TOPIC',
        about: 'the first indexed parameter, 32 bytes or an address; likewise',
      },
      topic2: { type: 'string', value: 'TOPIC', about: 'the second' },
      topic3: { type: 'string', value: 'TOPIC', about: 'the third' },
      out: { type: 'string', value: 'FILE', about: 'write to this file (default: standard output)' },
      format: {
        type: 'string',
        value: 'NAME',
        about: "ndjson or csv (default: csv where the file's name ends with .csv, else ndjson)",
      },
      overwrite: { type: 'boolean', about: 'begin anew where the file is there already' },
      'max-blocks': {
        type: 'string',
        value: 'N',
        about: 'never ask for more blocks at once (default: 100000; what the node takes is found out)',
      },
      concurrency: { type: 'string', value: 'N', about: 'calls at a time, 1 to 64 (default: 4)' },
      json: { type: 'boolean', about: 'no progress; at the end one line of JSON' },
      help,
    },
    rejected: keyAsArgument,
    notes: [
      'With --out, the same command goes on where an earlier run ended, by Ctrl-C or in any other way, without a gap or a doubled log:\nFILE.cursor, beside the file until it is whole, keeps how far it has come.\nWithout --out, whole blocks are written, and Ctrl-C prints the --from that goes on.',
      'The line of --json: { finished, out, format, chainId, fromBlock, toBlock, nextBlock, logs, bytes, resumed, seconds }, on standard\noutput; on standard error where the logs go to standard output.',
      "Examples:\n  keyrail logs --from 0 --base-url http://127.0.0.1:7245/testnet --key-file keys/app\n  keyrail logs --from 21000000 --to finalized --event 'Transfer(address,address,uint256)' --out transfers.csv",
      'Exit codes: 0 every log was written; 1 the service or the node rejected, or the file cannot be used; 2 wrong usage; 3 no answer;\n130 interrupted.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/logs.ts')).logs(given),
  },
  {
    name: 'doctor',
    usage: 'doctor [OPTIONS]',
    about: 'Examine an address, and say what to do about all that is not as it should be.',
    options: {
      ...address,
      'chain-id': { type: 'string', value: 'N', about: 'the chain id that it should have' },
      config: {
        type: 'string',
        value: 'FILE',
        about: 'take the chain id from the config of a service, by the network',
      },
      origin: { type: 'string', value: 'ORIGIN', about: 'look whether pages there can use it, as https://app.example' },
      calls: { type: 'string', value: 'N', about: 'calls that the latency is measured by (default: 20)' },
      batch: { type: 'string', value: 'N', about: 'calls tried in one request, 0 for none (default: 100)' },
      'log-range': {
        type: 'string',
        value: 'N',
        about: 'blocks tried in one eth_getLogs, 0 for none (default: 10000)',
      },
      timeout: { type: 'string', value: 'MS', about: 'give a call up after so many milliseconds (default: 10000)' },
      json,
      help,
    },
    rejected: keyAsArgument,
    notes: [
      'Looked at, in this order: reach, tls, key, chain, head, latency, batch, logs, cors (with --origin), limits, clock. Each is ok, warn\n(works, and should be looked at) or fail. It makes about 130 calls, which count as any others.',
      'The line of --json: { address, ok, findings: [{ check, level, text, fix, facts }] }',
      'Exit codes: 0 nothing failed; 1 something did; 2 wrong usage; 3 nobody answered.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/doctor.ts')).doctor(given),
  },
  {
    name: 'snippet',
    usage: 'snippet [--method NAME] [--library NAME] [OPTIONS]',
    about: 'Write an example call as a whole program, which reads the key from the environment.',
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
        ],
        about: 'what it does (default: latestBlock)',
      },
      language: {
        type: 'string',
        value: 'NAME',
        values: ['javascript', 'typescript', 'python', 'shell'],
        about: 'javascript, typescript, python or shell (default: that of the library, or javascript)',
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
        about: "by Keyrail's own package for the library",
      },
      'base-url': address['base-url'],
      'rpc-url': address['rpc-url'],
      network: address.network,
      account: { type: 'string', value: 'ADDRESS', about: 'balance: whose (default: the zero address)' },
      block: { type: 'string', value: 'N', about: 'blockByNumber: which (default: 0)' },
      contract: { type: 'string', value: 'ADDRESS', about: "contractLogs, contractRead: a token's contract" },
      list: { type: 'boolean', about: 'only print what there is to choose from' },
      json,
      help,
    },
    rejected: keyAsArgument,
    notes: [
      'The program goes to standard output, and to standard error what it is called, what installs its libraries, what runs it and what it reads\nfrom the environment. Without an address it is the one of keyrail dev.',
      'Exit codes: 0 it was written; 2 wrong usage.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/snippet.ts')).snippet(given),
  },
  {
    name: 'keys',
    usage: 'keys ACTION [ID|NAME] [OPTIONS]',
    about: 'List, make, rotate and revoke API keys, through the control API of a service.',
    words: ['list', 'create', 'show', 'reveal', 'rotate', 'drop-old', 'revoke'],
    options: {
      ...control,
      network: { ...network, about: 'create: its network, testnet or mainnet' },
      description: { type: 'string', value: 'TEXT', about: 'create: what it is for' },
      ...keyActions,
      yes: { type: 'boolean', about: 'revoke: without asking' },
      ...personal,
      json,
      help,
    },
    rejected: secretAsArgument,
    notes: [
      'Actions:\n  list              the API keys that are not revoked\n  create NAME       make one\n  show ID|NAME      what is known of one, its key masked\n  reveal ID|NAME    its key, alone on standard output\n  rotate ID|NAME    a new key in the place of the old one\n  drop-old ID|NAME  end the grace of the old key\n  revoke ID|NAME    end it for good',
      ...controlNotes.map((note) => note.replace('SCOPE', 'keys:write')),
    ],
    run: async (given: ReadArguments) => (await import('./commands/keys.ts')).keys(given),
  },
  {
    name: 'apps',
    usage: 'apps ACTION [ID|NAME] [OPTIONS]',
    about: 'List, make and delete apps, and rotate their keys, through the control API of a service.',
    words: ['list', 'create', 'show', 'reveal', 'rotate', 'drop-old', 'delete'],
    options: {
      ...control,
      search: { type: 'string', value: 'TEXT', about: 'list: only names that hold this' },
      'use-case': { type: 'string', value: 'NAME', about: 'create: what it is for, as Payments (default: Other)' },
      network: { ...network, about: 'create: only on this network (default: on both)' },
      description: { type: 'string', value: 'TEXT', about: 'create: more of what it is for' },
      ...keyActions,
      yes: { type: 'boolean', about: 'delete: without asking' },
      ...personal,
      json,
      help,
    },
    rejected: secretAsArgument,
    notes: [
      'Actions:\n  list              the apps\n  create NAME       make one\n  show ID|NAME      what is known of one, its key masked\n  reveal ID|NAME    its key, alone on standard output\n  rotate ID|NAME    a new key in the place of the old one\n  drop-old ID|NAME  end the grace of the old key\n  delete ID|NAME    delete it, with its key and its lists',
      ...controlNotes.map((note) => note.replace('SCOPE', 'apps:write')),
    ],
    run: async (given: ReadArguments) => (await import('./commands/apps.ts')).apps(given),
  },
  {
    name: 'serve',
    usage: 'serve [--config FILE] [--check]',
    about: 'Run the service in front of your own nodes, by a config file.',
    options: {
      config,
      check: { type: 'boolean', about: 'only say whether the config and the secret can be used' },
      schema: { type: 'boolean', about: 'only print what a config may hold, as JSON Schema' },
      grace: {
        type: 'string',
        value: 'S',
        about: 'when it is stopped, cut off what takes longer than S seconds (default: 10)',
      },
      help,
    },
    notes: [
      'From the environment: KEYRAIL_SECRET or KEYRAIL_SECRET_FILE (needed; seals keys), DATABASE_URL (PostgreSQL; else the SQLite file\nof the config), REDIS_URL, KEYRAIL_OPERATOR_TOKEN.',
      'Its log goes to standard output, a line of JSON for each entry. SIGHUP, and a change of the file, make it read the config again;\nSIGTERM and Ctrl-C stop it after the last answer.',
      'Exit codes: 0 stopped in order; 1 cannot listen; 2 the config, the environment or the database cannot be used.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/serve.ts')).serve(given),
  },
  {
    name: 'health',
    usage: 'health [--config FILE] [--timeout MS]',
    about: 'Check whether the service on this machine is alive, for the health check of a container.',
    options: {
      config,
      timeout: { type: 'string', value: 'MS', about: 'give up after so many milliseconds (default: 4000)' },
      help,
    },
    notes: [
      'It follows listen and tls of the config and calls /healthz, which does not depend on the nodes or the databases.',
      'Exit codes: 0 alive; 1 not, or the config does not say where the service listens; 2 wrong usage.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/health.ts')).health(given),
  },
  {
    name: 'users',
    usage: 'users ACTION [EMAIL] [OPTIONS]',
    about: 'What an operator does to accounts, while the service runs.',
    words: ['list', 'invite', 'disable', 'enable', 'role', 'reset-password', 'limits'],
    options: {
      config,
      search: { type: 'string', value: 'TEXT', about: 'list: only email addresses that hold this' },
      days: { type: 'string', value: 'N', about: 'invite: how long it holds, 1 to 30 (default: 7)' },
      'per-second': { type: 'string', value: 'N', about: 'limits: calls a second of each key, or none' },
      burst: { type: 'string', value: 'N', about: 'limits: calls at once of a key that was quiet' },
      'per-day': { type: 'string', value: 'N', about: 'limits: calls a UTC day, or none' },
      'per-month': { type: 'string', value: 'N', about: 'limits: calls a month, or none' },
      default: { type: 'boolean', about: "limits: the service's own again" },
      json,
      help,
    },
    notes: [
      'Actions:\n  list                  all accounts\n  invite [EMAIL]         a link to sign up by, once; with EMAIL for that address alone\n  disable EMAIL          end its sessions and reject its keys, at once\n  enable EMAIL           the contrary\n  reset-password EMAIL   a link to set a new password by, once\n  role EMAIL ROLE        make it an operator, or a user again\n  limits EMAIL           show or set its limits',
      'In place of EMAIL the id of the account will do. No mail is sent: links are printed, for you to pass on.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/users.ts')).users(given),
  },
  {
    name: 'backup',
    usage: 'backup FILE [--config FILE]',
    about: "Copy the service's SQLite database, while the service runs.",
    options: { config, json, help },
    notes: ['The copy must not be there yet. For PostgreSQL use pg_dump. The secret is not in it: keep that apart.'],
    run: async (given: ReadArguments) => (await import('./commands/backup.ts')).backup(given),
  },
  {
    name: 'restore',
    usage: 'restore FILE [--config FILE]',
    about: 'Put such a copy in the place of the database, while the service is stopped.',
    options: { config, json, help },
    notes: [
      'The database of before is kept beside it. What was counted of the quotas since the copy was made is lost with it.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/backup.ts')).restore(given),
  },
  {
    name: 'secret',
    usage: 'secret rotate | drop-old [--config FILE]',
    about: 'Change the secret under which keys are sealed, while the service runs.',
    words: ['rotate', 'drop-old'],
    options: { config, json, help },
    notes: [
      'rotate puts a new secret into the file that KEYRAIL_SECRET_FILE names, before the old ones, and seals every key anew.\ndrop-old takes the old ones out once no key needs them; run it when every instance has taken the new file.',
    ],
    run: async (given: ReadArguments) => (await import('./commands/secret.ts')).secret(given),
  },
  {
    name: 'completion',
    usage: 'completion bash | zsh | fish',
    about: 'Print what makes a shell complete commands and options.',
    words: ['bash', 'zsh', 'fish'],
    options: { json, help },
    notes: [
      'bash: source <(keyrail completion bash) in ~/.bashrc\nzsh:  source <(keyrail completion zsh) in ~/.zshrc, after compinit\nfish: keyrail completion fish > ~/.config/fish/completions/keyrail.fish',
    ],
    run: async (given: ReadArguments) => (await import('./commands/completion.ts')).completion(given, commands),
  },
]
