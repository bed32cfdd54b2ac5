import { flag, option } from '../arguments/command.ts'
import type { Command, ReadArguments } from '../arguments/command.ts'
import { config, help, json, logFilter } from '../sharedOptions.ts'

/** Commands for the machine of a service, which read its config. */
export const serviceCommands: readonly Command[] = [
  {
    name: 'serve',
    usage: 'serve [--config FILE] [--check [--nodes]] [--new-secret] | --network NAME --upstream NODE [--write-config]',
    about: 'Run the service in front of your own nodes.',
    options: {
      config,
      check: flag('validate the config, the secret against the stored keys, and the connection to Redis, then exit'),
      nodes: flag('with --check: also ask each node for its chain id, over HTTP and WebSocket'),
      network: option('NAME', 'without a config file: a network, such as base-mainnet; repeat it for several'),
      upstream: option(
        'NODE',
        'its node, as in upstreams of the config: alchemy://ENV:ALCHEMY_KEY, http://10.0.0.5:8545; repeat it for several',
      ),
      port: option('N', 'without a config file: the port (default: 8080)'),
      'write-config': flag('also write keyrail.config.json, the config file with the same meaning'),
      'new-secret': flag('start although the secret decrypts no stored key, because the previous one is lost'),
      schema: flag('print the JSON Schema of the config, then exit'),
      grace: option('S', 'on stop, wait up to S seconds for requests to complete (default: 10)'),
      help,
    },
    notes: [
      'Environment: KEYRAIL_SECRET or KEYRAIL_SECRET_FILE (required: encrypts keys), DATABASE_URL (PostgreSQL; default: the SQLite file in\nthe config), REDIS_URL, CACHE_REDIS_URL, KEYRAIL_OPERATOR_TOKEN, KEYRAIL_PORT_OFFSET (added to each port of the config, for several instances on one machine).',
      'It logs to standard output, one line of JSON per entry. SIGHUP and changes of the file reload the config. SIGTERM and Ctrl-C stop\nthe service after the requests in flight.',
      'Without a config file, the database and the secret are in the folder data. The first start prints a one-time link for the operator, and\nURLs with a first key.',
      'Exit codes: 0 graceful stop; 1 cannot listen; 2 invalid config, environment or database.',
    ],
    examples: [
      'keyrail serve --check --nodes',
      'keyrail serve --config keyrail.config.json',
      'keyrail serve --network base-mainnet --upstream alchemy://ENV:ALCHEMY_KEY',
    ],
    run: async (given: ReadArguments) => (await import('../commands/serve.ts')).serve(given),
  },
  {
    name: 'health',
    usage: 'health [--config FILE] [--timeout MS]',
    about: 'Check that the service on this machine is alive, for container health checks.',
    options: {
      config,
      timeout: option('MS', 'timeout in milliseconds (default: 4000)'),
      help,
    },
    notes: [
      'It reads listen and tls from the config, adds KEYRAIL_PORT_OFFSET to the port, and requests /healthz, which does not depend on the nodes or the databases.',
      'Exit codes: 0 alive; 1 not alive, or invalid listen in the config; 2 invalid usage.',
    ],
    run: async (given: ReadArguments) => (await import('../commands/health.ts')).health(given),
  },
  {
    name: 'users',
    usage: 'users ACTION [EMAIL] [OPTIONS]',
    about: 'Manage accounts, while the service is running.',
    actions: [
      ['list', 'list all accounts'],
      ['invite [EMAIL]', 'print a one-time sign-up link, for anyone or only for EMAIL'],
      ['disable EMAIL', 'close the sessions of an account and reject its keys, immediately'],
      ['enable EMAIL', 'enable a disabled account'],
      ['role EMAIL ROLE', 'set the role: user or operator'],
      ['reset-password EMAIL', 'print a one-time link to set a new password'],
      ['reset-second-factor EMAIL', 'remove the second factors of an account that has lost them'],
      ['limits EMAIL', 'show or set the limits'],
    ],
    options: {
      config,
      search: option('TEXT', 'list: only email addresses that contain TEXT'),
      days: option('N', 'invite: validity in days, 1 to 30 (default: 7)'),
      'per-second': option('N', 'limits: requests per second and key, or none'),
      burst: option('N', 'limits: burst size per key'),
      'per-day': option('N', 'limits: requests per UTC day, or none'),
      'per-month': option('N', 'limits: requests per month, or none'),
      default: flag('limits: reset to the defaults of the service'),
      json,
      help,
    },
    notes: [
      'Instead of EMAIL, you can use the id of the account. Links are not sent by email: pass them on yourself. If the config has an email server, reset-second-factor notifies the user.',
    ],
    examples: [
      'keyrail users invite ada@example.com --days 3',
      'keyrail users limits ada@example.com --per-day 100000',
    ],
    run: async (given: ReadArguments) => (await import('../commands/users.ts')).users(given),
  },
  {
    name: 'backup',
    usage: 'backup FILE [--config FILE]',
    about: "Copy the service's SQLite database, while the service is running.",
    options: { config, json, help },
    notes: [
      'FILE must not exist yet. For PostgreSQL, use pg_dump. The copy does not include the secret: back that up separately.',
    ],
    run: async (given: ReadArguments) => (await import('../commands/backup.ts')).backup(given),
  },
  {
    name: 'restore',
    usage: 'restore FILE [--config FILE]',
    about: 'Restore a backup of the SQLite database, while the service is stopped.',
    options: { config, json, help },
    notes: [
      'The previous database is moved to a file next to it. Usage counted toward quotas since the backup is lost.',
    ],
    run: async (given: ReadArguments) => (await import('../commands/backup.ts')).restore(given),
  },
  {
    name: 'cache',
    usage: 'cache stats | purge | warm [OPTIONS]',
    about: 'Show, delete or fill what the chain store has, while the service is running.',
    actions: [
      ['stats', 'show how much is stored of each network, by the node that sent it'],
      ['purge', 'delete it, of all networks and nodes, or of some'],
      ['warm', 'read logs through the nodes of the config, so that the service has them'],
    ],
    options: {
      config,
      network: option('NAME', 'purge: only of this network; warm: the network, if the config has several'),
      upstream: option('NAME', 'purge: only what the node with this name sent'),
      from: option('BLOCK', 'warm: first block'),
      to: option('BLOCK', 'warm: last block (default: the newest that can be stored)'),
      ...logFilter,
      address: option('ADDRESS', 'warm: contract address; repeat it or use commas for several'),
      json,
      help,
    },
    notes: [
      'The file of the chain store keeps its size after a purge: the service fills it again.',
      'warm sends queries of 10,000 blocks, four at a time, within the budgets of the nodes, which it does not share with a running service.',
    ],
    examples: [
      'keyrail cache stats',
      'keyrail cache purge --upstream provider',
      'keyrail cache warm --address 0xdAC17F958D2ee523a2206206994597C13D831ec7 --from 21000000',
    ],
    run: async (given: ReadArguments) => (await import('../commands/cache.ts')).cache(given),
  },
  {
    name: 'secret',
    usage: 'secret rotate | drop-old [--config FILE]',
    about: 'Rotate the secret that encrypts stored keys, while the service is running.',
    actions: [
      [
        'rotate',
        'add a new secret to the file in KEYRAIL_SECRET_FILE, before the old ones, and encrypt every key with it',
      ],
      ['drop-old', 'remove old secrets that no key needs; run it once every instance has loaded the new file'],
    ],
    options: { config, json, help },
    notes: [],
    run: async (given: ReadArguments) => (await import('../commands/secret.ts')).secret(given),
  },
]
