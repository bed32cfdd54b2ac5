import { snippet as writeSnippet, snippetLanguages, snippetMethods } from '@keyrail/snippets'
import type { SnippetLanguage, SnippetLibrary, SnippetMethod, SnippetValues } from '@keyrail/snippets'
import type { ReadArguments } from '../arguments/command.ts'
import { nearest } from '../arguments/nearest.ts'
import { readWholeNumber } from '../arguments/readWholeNumber.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { formatTable } from '../output/formatTable.ts'
import { print, printData, printNote } from '../output/print.ts'
import { getStyle } from '../output/style.ts'
import { applyNetwork, readNetwork } from './endpoint.ts'

type Environment = Readonly<Record<string, string | undefined>>
type Address = Parameters<typeof writeSnippet>[0]['address']

/** Where `keyrail dev` serves the testnet, if nothing else is said. */
const devBaseUrl = 'http://127.0.0.1:7245/testnet'

/** Takes one of a list, by its name in whatever case, with or without hyphens. */
function choose<Id extends string>(option: string, text: string | undefined, ids: readonly Id[]): Id | undefined {
  if (text === undefined) return undefined
  const plain = (name: string): string => name.toLowerCase().replaceAll('-', '')
  const found = ids.find((id) => plain(id) === plain(text))
  if (found !== undefined) return found
  const meant = nearest(text, ids)
  throw wrongUsage(
    `--${option} is unknown`,
    `${meant === undefined ? '' : `did you mean ${meant}? `}it is one of ${ids.join(', ')}`,
  )
}

function addressOf(given: ReadArguments, environment: Environment): Address {
  const network = readNetwork(given.text('network'))
  const baseUrl = given.text('base-url')
  const rpcUrl = given.text('rpc-url')
  if (baseUrl !== undefined && rpcUrl !== undefined) throw wrongUsage('--base-url and --rpc-url exclude each other')
  if (rpcUrl !== undefined) return { rpcUrl: applyNetwork('--rpc-url', rpcUrl, network) }
  if (baseUrl !== undefined) return { baseUrl: applyNetwork('--base-url', baseUrl, network) }
  const known = environment['KEYRAIL_BASE_URL']
  if (known) return { baseUrl: applyNetwork('KEYRAIL_BASE_URL', known, network) }
  return { baseUrl: network === undefined ? devBaseUrl : devBaseUrl.replace('testnet', network) }
}

function valuesOf(given: ReadArguments): SnippetValues {
  const account = given.text('account')
  const contract = given.text('contract')
  const block = readWholeNumber('--block', given.text('block'), { min: 0, max: Number.MAX_SAFE_INTEGER })
  return {
    ...(account === undefined ? {} : { account }),
    ...(contract === undefined ? {} : { contract }),
    ...(block === undefined ? {} : { block }),
  }
}

/** What there is to choose from. */
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
 * `keyrail snippet`: an example call as a whole program, on standard output; what it needs, on standard error. The key is never in it: it is read from
 * the environment.
 *
 * @param given - The command's arguments.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for a wrong command line.
 */
export async function snippet(given: ReadArguments): Promise<number> {
  if (given.positionals.length > 0) throw wrongUsage('keyrail snippet takes options only', 'see keyrail snippet --list')
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
  const written = read(() =>
    writeSnippet({
      address: addressOf(given, process.env),
      withKeyrail,
      values: valuesOf(given),
      ...(method === undefined ? {} : { method }),
      ...(language === undefined ? {} : { language }),
      ...(library === undefined ? {} : { library }),
    }),
  )
  if (given.flag('json')) {
    await printData(JSON.stringify(written))
    return exitCodes.ok
  }
  const { text, fileName, install, run, needs, environment } = written
  await printNote(
    formatTable([
      ['save it as', fileName],
      ...(install === undefined ? [] : [['install', install]]),
      ['run it', `${run}${needs === undefined ? '' : ` (needs ${needs})`}`],
      ...environment.map(({ name, what }) => ['it reads', `${name}: ${what}`]),
    ]),
  )
  // Nothing in it has the shape of a key, so nothing of it may be masked.
  await printData(text.trimEnd())
  return exitCodes.ok
}

/** What cannot be right is told by the package as a TypeError that names its own option. */
function read<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw wrongUsage(error.message, 'see keyrail snippet --help')
  }
}
