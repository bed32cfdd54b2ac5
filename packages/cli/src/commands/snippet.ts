import { snippet as writeSnippet, snippetLanguages, snippetMethods } from '@keyrail/snippets'
import type { SnippetLanguage, SnippetLibrary, SnippetMethod, SnippetValues } from '@keyrail/snippets'
import type { ReadArguments } from '../arguments/command.ts'
import { findNearestName } from '@keyrail/core/internal'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { formatTable } from '../output/formatTable.ts'
import { print, printData, printNote } from '../output/print.ts'
import { getStyle } from '../output/style.ts'
import { applyNetwork, readNetwork } from './endpoint.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Address = Parameters<typeof writeSnippet>[0]['address']

/** The default URL of `keyrail dev`. */
const devUrl = 'http://127.0.0.1:7245'

/** Finds an id in a list, ignoring case and hyphens. */
function choose<Id extends string>(option: string, text: string | undefined, ids: readonly Id[]): Id | undefined {
  if (text === undefined) return undefined
  const normalize = (name: string): string => name.toLowerCase().replaceAll('-', '')
  const found = ids.find((id) => normalize(id) === normalize(text))
  if (found !== undefined) return found
  const meant = findNearestName(text, ids)
  throw wrongUsage(
    `unknown --${option} ${text}`,
    `${meant === undefined ? '' : `did you mean ${meant}? `}Use one of ${ids.join(', ')}`,
  )
}

function readAddress(given: ReadArguments, environment: Environment): Address {
  const network = readNetwork(given.text('network'))
  const baseUrl = given.text('base-url')
  const rpcUrl = given.text('rpc-url')
  if (baseUrl !== undefined && rpcUrl !== undefined)
    throw wrongUsage('--base-url and --rpc-url cannot be combined', 'use one of them')
  if (rpcUrl !== undefined) return { rpcUrl: applyNetwork('--rpc-url', rpcUrl, network) }
  if (baseUrl !== undefined) return { baseUrl: applyNetwork('--base-url', baseUrl, network) }
  const { KEYRAIL_BASE_URL: fromEnvironment } = environment
  if (fromEnvironment) return { baseUrl: applyNetwork('KEYRAIL_BASE_URL', fromEnvironment, network) }
  return { baseUrl: `${devUrl}/${network ?? 'testnet'}` }
}

function readValues(given: ReadArguments): SnippetValues {
  const account = given.text('account')
  const contract = given.text('contract')
  const block = readWholeNumber('--block', given.text('block'), { min: 0, max: Number.MAX_SAFE_INTEGER })
  return {
    ...(account === undefined ? {} : { account }),
    ...(contract === undefined ? {} : { contract }),
    ...(block === undefined ? {} : { block }),
  }
}

/** Prints the available methods, languages and libraries. */
async function list(given: ReadArguments): Promise<number> {
  if (given.flag('json')) {
    await printData(JSON.stringify({ methods: snippetMethods, languages: snippetLanguages }))
    return exitCodes.ok
  }
  const style = getStyle(process.stdout)
  await print([
    style.strong('Methods'),
    ...formatTable(
      snippetMethods.map(({ id, title, rpc }) => [id, title, style.faint(rpc.join(', '))]),
      '  ',
    ),
    '',
    style.strong('Languages and libraries'),
    ...formatTable(
      snippetLanguages.flatMap((language) =>
        language.libraries.map(({ id, keyrail }) => [
          language.id,
          id,
          keyrail === undefined ? '' : `--with keyrail: ${keyrail}`,
        ]),
      ),
      '  ',
    ),
  ])
  return exitCodes.ok
}

/**
 * `keyrail snippet`: prints an example call as a complete program to standard output, and how to run it to standard error. The program reads
 * the URL and the key from the environment.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for invalid usage.
 */
export async function snippet(given: ReadArguments): Promise<number> {
  if (given.positionals.length > 0)
    throw wrongUsage('keyrail snippet takes no arguments, only options', 'see keyrail snippet --list')
  if (given.flag('list')) return list(given)
  const method = choose<SnippetMethod>(
    'method',
    given.text('method'),
    snippetMethods.map(({ id }) => id),
  )
  const language = choose<SnippetLanguage>(
    'language',
    given.text('language'),
    snippetLanguages.map(({ id }) => id),
  )
  const libraries = snippetLanguages.filter(({ id }) => language === undefined || id === language)
  const library = choose<SnippetLibrary>(
    'library',
    given.text('library'),
    libraries.flatMap((one) => one.libraries.map(({ id }) => id)),
  )
  const withKeyrail = choose('with', given.text('with'), ['keyrail']) !== undefined
  const result = toUsageError(() =>
    writeSnippet({
      address: readAddress(given, process.env),
      withKeyrail,
      values: readValues(given),
      ...(method === undefined ? {} : { method }),
      ...(language === undefined ? {} : { language }),
      ...(library === undefined ? {} : { library }),
    }),
  )
  if (given.flag('json')) {
    await printData(JSON.stringify(result))
    return exitCodes.ok
  }
  const { text, fileName, install, run, needs, environment } = result
  await printNote(
    formatTable([
      ['save as', fileName],
      ...(install === undefined ? [] : [['install', install]]),
      ['run', `${run}${needs === undefined ? '' : ` (needs ${needs})`}`],
      ...environment.map(({ name, what, value }) => [
        'in .env',
        value === undefined ? `${name}: ${what}` : `${name}=${value}`,
      ]),
    ]),
  )
  // The program contains no key, so nothing must be masked.
  await printData(text.trimEnd())
  return exitCodes.ok
}

/** Converts the TypeError for an invalid option to a usage error. */
function toUsageError<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw wrongUsage(error.message, 'see keyrail snippet --help')
  }
}
