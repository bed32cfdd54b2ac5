import type { ReadArguments } from '../arguments/command.ts'

/** Gets the config file: `--config`, or `keyrail.config.json` in the current folder. */
export const getConfigFile = (given: ReadArguments): string => given.text('config') ?? 'keyrail.config.json'
