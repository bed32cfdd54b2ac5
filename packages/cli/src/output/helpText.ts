import type { Command } from '../arguments/command.ts'
import { formatTable } from './formatTable.ts'
import type { Style } from './style.ts'

/** The help of `keyrail` itself. */
export function mainHelp(commands: readonly Command[], style: Style): string[] {
  return [
    'Keyrail: node access by API key, on this machine and from the command line.',
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
        ['--help', 'show this, or the help of a command'],
        ['--version', 'show the version'],
      ],
      '  ',
    ),
    '',
    style.strong('Exit codes'),
    '  0 done   1 rejected or failed   2 wrong usage   3 no answer (network, timeout, broken answer)   130 interrupted',
  ]
}

/** The help of one command, made from its declaration. */
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
