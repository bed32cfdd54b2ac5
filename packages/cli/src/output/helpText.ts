import type { Command } from '../arguments/command.ts'
import type { CommandGroup } from '../commandTable.ts'
import { formatTable } from './formatTable.ts'
import type { Style } from './style.ts'

/** Formats a titled list, whose columns are aligned. Nothing if it is empty. */
const formatSection = (title: string, rows: readonly (readonly string[])[], style: Style): string[] =>
  rows.length === 0 ? [] : ['', style.strong(title), ...formatTable(rows, '  ')]

/** Formats the help of `keyrail`. */
export function mainHelp(groups: readonly CommandGroup[], style: Style): string[] {
  const rows = groups.flatMap(({ commands }) => commands.map(({ name, about }) => [name, about]))
  // Formatted together, so that the columns of all groups are aligned.
  const lines = formatTable(rows, '  ')
  return [
    'Run and use a Keyrail node access service.',
    ...formatSection('Usage', [['keyrail COMMAND [OPTIONS]']], style),
    ...groups.flatMap(({ title, commands }) => ['', style.strong(title), ...lines.splice(0, commands.length)]),
    ...formatSection(
      'Options',
      [
        ['-h, --help', 'show help for keyrail or for a command'],
        ['-V, --version', 'show the version'],
      ],
      style,
    ),
    ...formatSection(
      'Examples',
      [
        ['keyrail dev'],
        ['keyrail call eth_blockNumber --base-url http://127.0.0.1:7245/testnet --key-file .keyrail/keys/app'],
        ['keyrail help logs'],
      ],
      style,
    ),
    '',
    style.strong('Exit codes'),
    '  0 success   1 rejected or failed   2 invalid usage   3 no response (network, timeout, invalid response)   130 interrupted',
  ]
}

/** Formats the help of a command from its declaration. */
export function commandHelp(
  { about, usage, actions = [], options, notes, examples = [] }: Command,
  style: Style,
): string[] {
  const optionRows = Object.entries(options).map(([name, option]) => [
    `--${name}${option.value === undefined ? '' : ` ${option.value}`}`,
    option.about,
  ])
  return [
    about,
    ...formatSection('Usage', [[`keyrail ${usage}`]], style),
    ...formatSection('Actions', actions, style),
    ...formatSection('Options', optionRows, style),
    ...notes.flatMap((note) => ['', note]),
    ...formatSection(
      'Examples',
      examples.map((example) => [example]),
      style,
    ),
  ]
}
