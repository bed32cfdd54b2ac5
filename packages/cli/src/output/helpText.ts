import type { Command } from '../arguments/command.ts'
import { formatTable } from './formatTable.ts'
import type { Style } from './style.ts'

/** Formats the help of `keyrail`. */
export function mainHelp(commands: readonly Command[], style: Style): string[] {
  return [
    'Run and use a Keyrail node access service.',
    '',
    style.strong('Usage'),
    '  keyrail COMMAND [OPTIONS]',
    '',
    style.strong('Commands'),
    ...formatTable(
      commands.map(({ usage, about }) => [usage, about]),
      '  ',
    ),
    '',
    style.strong('Options'),
    ...formatTable(
      [
        ['-h, --help', 'show help for keyrail or for a command'],
        ['-V, --version', 'show the version'],
      ],
      '  ',
    ),
    '',
    style.strong('Exit codes'),
    '  0 success   1 rejected or failed   2 invalid usage   3 no response (network, timeout, invalid response)   130 interrupted',
  ]
}

/** Formats the help of a command from its declaration. */
export function commandHelp(command: Command, style: Style): string[] {
  return [
    command.about,
    '',
    style.strong('Usage'),
    `  keyrail ${command.usage}`,
    '',
    style.strong('Options'),
    ...formatTable(
      Object.entries(command.options).map(([name, { value, about }]) => [
        `--${name}${value === undefined ? '' : ` ${value}`}`,
        about,
      ]),
      '  ',
    ),
    ...command.notes.flatMap((note) => ['', note]),
  ]
}
