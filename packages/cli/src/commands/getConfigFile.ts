import type { ReadArguments } from '../arguments/command.ts'

/** The config file that was named, or the one of this folder. */
export const getConfigFile = (given: ReadArguments): string => given.text('config') ?? 'keyrail.config.json'
