import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { CreateError } from './createError.ts'

/** The endpoint of an app. */
export interface Endpoint {
  readonly baseUrl: string
  /** Empty if it is unknown: the user fills it in. */
  readonly apiKey: string
}

/** The URL of the service that `keyrail dev` runs. */
const localUrl = 'http://127.0.0.1:7245/testnet'
/** The file in which `keyrail dev` stores the key of its app. */
const localKeyFile = '.keyrail/keys/app'

type Environment = Readonly<Record<string, string | undefined>>

function readEnvFile(file: string): Environment {
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new CreateError(
      `cannot read the --env file: ${error instanceof Error ? error.message : String(error)}`,
      'keyrail dev --env FILE writes one while it runs',
    )
  }
}

/**
 * Finds the endpoint of the new project: that of `--env` or of `--base-url`, else that of the environment, else that of `keyrail dev` in this folder.
 *
 * @param options - `baseUrl` and `envFile` of the options.
 * @param environment - `KEYRAIL_BASE_URL` and `KEYRAIL_API_KEY` are read.
 * @param folder - The folder in which `keyrail dev` may have run.
 * @throws {CreateError} if the file cannot be read or has no URL.
 */
export function readEndpoint(
  { baseUrl, envFile }: { readonly baseUrl: string | undefined; readonly envFile: string | undefined },
  environment: Environment,
  folder: string,
): Endpoint {
  if (envFile !== undefined) {
    const { KEYRAIL_BASE_URL: url, KEYRAIL_API_KEY: apiKey = '' } = readEnvFile(resolve(folder, envFile))
    if (!url) throw new CreateError('the --env file has no KEYRAIL_BASE_URL', 'keyrail dev --env FILE writes one')
    return { baseUrl: url, apiKey }
  }
  const { KEYRAIL_BASE_URL: url = '', KEYRAIL_API_KEY: apiKey = '' } = environment
  // A key must be sent only to its own service.
  if (baseUrl !== undefined) return { baseUrl, apiKey }
  if (url !== '') return { baseUrl: url, apiKey }
  const keyFile = resolve(folder, localKeyFile)
  return { baseUrl: localUrl, apiKey: existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : '' }
}
