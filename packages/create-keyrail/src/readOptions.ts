import { parseArgs } from 'node:util'
import { CreateError } from './createError.ts'
import { templates } from './templates.ts'
import type { Template } from './templates.ts'

/** The options of `npm create keyrail`. */
export interface CreateOptions {
  /** The folder of the project; undefined if it was not given. */
  readonly folder: string | undefined
  readonly template: Template | undefined
  readonly baseUrl: string | undefined
  /** A file with `KEYRAIL_BASE_URL` and `KEYRAIL_API_KEY`. */
  readonly envFile: string | undefined
  /** A folder with packed packages, to use instead of the registry. */
  readonly packages: string | undefined
  readonly help: boolean
}

const names = templates.map(({ name }) => name).join(', ')

/** Finds a template by its name. @throws {CreateError} if there is none. */
export function findTemplate(name: string): Template {
  const template = templates.find((one) => one.name === name)
  if (template === undefined) throw new CreateError(`there is no template ${name}`, `use one of ${names}`)
  return template
}

/**
 * Reads the arguments of `npm create keyrail`.
 *
 * @param words - The arguments.
 * @throws {CreateError} if one is unknown or invalid.
 */
export function readOptions(words: readonly string[]): CreateOptions {
  let parsed
  try {
    parsed = parseArgs({
      args: [...words],
      allowPositionals: true,
      options: {
        template: { type: 'string', short: 't' },
        'base-url': { type: 'string' },
        env: { type: 'string' },
        packages: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    const [message = ''] = error instanceof Error ? error.message.split('. ') : []
    throw new CreateError(message, 'see npm create keyrail -- --help')
  }
  const { values, positionals } = parsed
  if (positionals.length > 1) throw new CreateError('only one folder can be created', 'put quotes around its name')
  const baseUrl = values['base-url']
  if (baseUrl !== undefined && !/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
    throw new CreateError('--base-url must be an http or https URL', 'for example http://127.0.0.1:7245/testnet')
  }
  if (baseUrl !== undefined && values.env !== undefined)
    throw new CreateError('--base-url and --env cannot be combined', 'the file of --env contains the URL')
  return {
    folder: positionals[0],
    template: values.template === undefined ? undefined : findTemplate(values.template),
    baseUrl,
    envFile: values.env,
    packages: values.packages,
    help: values.help ?? false,
  }
}
