import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { startFromConfig } from '@keyrail/gateway'
import type { ReadArguments } from '../arguments/command.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { CliError, exitCodes, wrongUsage } from '../cliError.ts'
import { warnAboutKey } from './endpoint.ts'

/** The config of a service, as in its file. */
type ConfigInput = Parameters<typeof startFromConfig>[0]['config']

/** Where a service without a config file has its database and its secret, in the current folder. */
const dataFolder = 'data'
const defaultPort = 8_080

/**
 * Makes a config from `--network` and `--upstream`.
 *
 * @param given - The arguments of `keyrail serve`.
 * @returns Undefined without these options.
 * @throws {CliError} exit code 2 if one of them is missing, or other options contradict them.
 */
export async function readShortConfig(given: ReadArguments): Promise<ConfigInput | undefined> {
  const networks = given.texts('network')
  const upstreams = given.texts('upstream')
  const writes = given.flag('write-config')
  if (networks.length + upstreams.length === 0) {
    if (writes || given.text('port') !== undefined)
      throw wrongUsage(
        '--write-config and --port need --network and --upstream',
        'add them; with a config file, listen.port is the port',
      )
    return undefined
  }
  if (networks.length === 0 || upstreams.length === 0)
    throw wrongUsage('--network and --upstream need each other', 'add the one that is missing')
  if (given.flag('check'))
    throw wrongUsage('--check checks a config file', 'start once with --write-config, or leave out --check')
  if (given.text('config') !== undefined)
    throw wrongUsage('--network and --upstream are for a service without a config file', 'leave out --config')
  const port = readWholeNumber('--port', given.text('port'), { min: 1, max: 65_535 }) ?? defaultPort
  for (const upstream of upstreams) await warnAboutKey('--upstream', upstream, 'ENV:NAME or FILE:PATH')
  return {
    publicUrl: `http://127.0.0.1:${port}`,
    listen: { port },
    signUp: 'invite',
    storage: { file: join(dataFolder, 'keyrail.db') },
    networks: Object.fromEntries(networks.map((network) => [network, { upstreams }])),
  }
}

/**
 * Writes the file of a config, readable by its owner only.
 *
 * @throws {CliError} exit code 2 if it exists.
 */
export function writeConfigFile(file: string, config: ConfigInput): void {
  if (existsSync(file))
    throw new CliError(`${file} exists, and is not replaced`, {
      hint: 'start it with keyrail serve, or use another folder',
      exitCode: exitCodes.usage,
    })
  writeFileSync(file, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 })
}

/**
 * Adds the file of the server secret to the environment, unless it has a secret. Creates the file if it does not exist, and a `.gitignore` next to it.
 *
 * @param environment - The environment variables.
 */
export function provideSecret(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  const { KEYRAIL_SECRET: secret = '', KEYRAIL_SECRET_FILE: secretFile = '' } = environment
  if (`${secret}${secretFile}` !== '') return environment
  const file = join(dataFolder, 'secret')
  if (!existsSync(file)) {
    mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
    writeFileSync(file, `${randomBytes(48).toString('base64url')}\n`, { mode: 0o600 })
    const ignoreFile = join(dataFolder, '.gitignore')
    if (!existsSync(ignoreFile)) writeFileSync(ignoreFile, '*\n')
  }
  return { ...environment, KEYRAIL_SECRET_FILE: file }
}
