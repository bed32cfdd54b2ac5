import { flag, option } from '../arguments/command.ts'
import type { Command, ReadArguments } from '../arguments/command.ts'
import { control, controlNotes, help, json, keyActions, names, personal, secretAsArgument } from '../sharedOptions.ts'

const serviceNotBaseUrl = 'it needs the URL of the dashboard: use --service URL, for example http://127.0.0.1:7245'

/** Commands that use the control API, with a personal access token. */
export const accountCommands: readonly Command[] = [
  {
    name: 'networks',
    usage: 'networks [--search TEXT] [--service URL] [--json]',
    about: 'List the networks of a service.',
    options: {
      service: control.service,
      search: option('TEXT', 'only networks with TEXT in their title, names, symbol or chain'),
      json,
      help,
    },
    rejected: {
      'base-url': serviceNotBaseUrl,
      'rpc-url': serviceNotBaseUrl,
      url: serviceNotBaseUrl,
    },
    notes: [
      'JSON output: { chains: [{ chain, title, aliases }], networks: [{ network, chain, title, chainId, symbol, testnet, aliases,\nexplorerUrl, url }] }. url is the --base-url of apps and the --rpc-url of API keys.',
      'Exit codes: 0 success; 1 rejected by the service; 2 invalid usage; 3 no response.',
    ],
    run: async (given: ReadArguments) => (await import('../commands/networks.ts')).networks(given),
  },
  {
    name: 'keys',
    usage: 'keys ACTION [ID|NAME] [OPTIONS]',
    about: 'Manage API keys.',
    actions: [
      ['list', 'list API keys that are not revoked'],
      ['create NAME', 'create an API key'],
      ['show ID|NAME', 'show details, with the key masked'],
      ['reveal ID|NAME', 'print the full key'],
      ['rotate ID|NAME', 'replace the key with a new one'],
      ['drop-old ID|NAME', 'end the grace period of the old key'],
      ['revoke ID|NAME', 'revoke the key permanently'],
    ],
    options: {
      ...control,
      names,
      network: option('NAME', 'create: name of the network; keyrail networks lists them'),
      description: option('TEXT', 'create: description'),
      ...keyActions,
      yes: flag('revoke: skip the confirmation'),
      ...personal,
      json,
      help,
    },
    rejected: secretAsArgument,
    notes: controlNotes.map((note) => note.replace('SCOPE', 'keys:write')),
    examples: [
      'keyrail keys create Indexer --network base-mainnet --key-file base.key',
      'keyrail keys rotate Indexer --grace 1 --key-file base.key',
    ],
    run: async (given: ReadArguments) => (await import('../commands/keys.ts')).keys(given),
  },
  {
    name: 'apps',
    usage: 'apps ACTION [ID|NAME] [OPTIONS]',
    about: 'Manage apps and their keys.',
    actions: [
      ['list', 'list apps'],
      ['create NAME', 'create an app'],
      ['edit ID|NAME', 'change its name, use case, networks or description'],
      ['show ID|NAME', 'show details, with the key masked'],
      ['reveal ID|NAME', 'print the full key'],
      ['rotate ID|NAME', 'replace the key with a new one'],
      ['drop-old ID|NAME', 'end the grace period of the old key'],
      ['delete ID|NAME', 'delete the app, its key and its allow lists'],
    ],
    options: {
      ...control,
      names,
      search: option('TEXT', 'list: only names that contain TEXT'),
      'use-case': option('NAME', 'create, edit: use case, for example Payments (default of create: Other)'),
      chain: option('NAME', 'create: chain (default: that of --network, or the only one)'),
      network: option(
        'NAMES',
        'create, edit: networks, separated by commas (default of create: all networks of the chain)',
      ),
      name: option('NAME', 'edit: new name'),
      description: option('TEXT', 'create, edit: description'),
      ...keyActions,
      yes: flag('delete: skip the confirmation'),
      ...personal,
      json,
      help,
    },
    rejected: secretAsArgument,
    notes: controlNotes.map((note) => note.replace('SCOPE', 'apps:write')),
    examples: ['keyrail apps create Shop --chain ethereum --key-file shop.key', 'keyrail apps list --names'],
    run: async (given: ReadArguments) => (await import('../commands/apps.ts')).apps(given),
  },
]
