import { flag, option } from '../arguments/command.ts'
import type { Command, ReadArguments } from '../arguments/command.ts'
import { config, help, json } from '../sharedOptions.ts'

/** Commands for the machine of a service, which read its config. */
export const serviceCommands: readonly Command[] = [
  {
    name: 'serve',
    usage: 'serve [--config FILE] [--check [--nodes]] [--new-secret]',
    about: 'Run the service in front of your own nodes.',
    options: {
      config,
      check: flag('validate the config, the secret against the stored keys, and the connection to Redis, then exit'),
      nodes: flag('with --check: also ask each node for its chain id, over HTTP and WebSocket'),
      'new-secret': flag('start although the secret decrypts no stored key, because the previous one is lost'),
      schema: flag('print the JSON Schema of the config, then exit'),
      grace: option('S', 'on stop, wait up to S seconds for requests to complete (default: 10)'),
      help,
    },
    notes: [
      'Environment: KEYRAIL_SECRET or KEYRAIL_SECRET_FILE (required: encrypts keys), DATABASE_URL (PostgreSQL; default: the SQLite file in\nthe config), REDIS_URL, KEYRAIL_OPERATOR_TOKEN, KEYRAIL_PORT_OFFSET (added to each port of the config, for several instances on one machine).',
      'It logs to standard output, one line of JSON per entry. SIGHUP and changes of the file reload the config. SIGTERM and Ctrl-C stop\nthe service after the requests in flight.',
      'Exit codes: 0 graceful stop; 1 cannot listen; 2 invalid config, environment or database.',
    ],
    examples: ['keyrail serve --check --nodes', 'keyrail serve --config keyrail.config.json'],
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
