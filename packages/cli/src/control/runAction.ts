import type { ReadArguments } from '../arguments/command.ts'
import { nearest } from '../arguments/nearest.ts'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { print, printData, printNote } from '../output/print.ts'
import type { Action, Actions, Said } from './action.ts'
import { createControlApiClient } from './controlApi.ts'
import { logIn, readToken } from './readCredential.ts'
import { readServiceUrl } from './readServiceUrl.ts'

function pick(command: string, actions: Actions, given: ReadArguments): { action: Action; words: readonly string[] } {
  const [name, ...words] = given.positionals
  const names = Object.keys(actions)
  if (name === undefined) {
    throw wrongUsage(`keyrail ${command} needs one of ${names.join(', ')}`, `see keyrail ${command} --help`)
  }
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action === undefined) {
    const meant = nearest(name, names)
    throw wrongUsage(
      `there is no keyrail ${command} ${name}`,
      `${meant === undefined ? '' : `did you mean ${meant}? `}there are ${names.join(', ')}`,
    )
  }
  const { needs } = action
  if (words.length !== needs.length) {
    throw wrongUsage(
      `keyrail ${command} ${name} takes ${needs.length === 0 ? 'no further word' : needs.join(' ')}`,
      words.length > needs.length ? 'put quotes around a name of several words' : `see keyrail ${command} --help`,
    )
  }
  const all = new Set(Object.values(actions).flatMap(({ takes }) => takes))
  const takes = new Set([...action.takes, ...(action.byPerson ? ['email', 'password-file'] : ['token-file'])])
  const foreign = [...all, 'email', 'password-file', 'token-file'].find(
    (option) => !takes.has(option) && (given.text(option) !== undefined || given.flag(option)),
  )
  if (foreign !== undefined) throw wrongUsage(`keyrail ${command} ${name} has no option --${foreign}`)
  return { action, words }
}

async function tell({ json, lines, apiKey }: Said, given: ReadArguments): Promise<void> {
  if (given.flag('json')) return printData(JSON.stringify(json))
  if (apiKey === undefined) return print(lines)
  await printNote(lines)
  await printData(apiKey)
}

/**
 * Does one thing through the control API of a service, and tells what came of it.
 *
 * @param command - The command's name, for errors.
 * @param actions - What it can do.
 * @param given - The command's arguments: the first word names the action.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for a wrong command line; 1 where the service rejects; 3 where it does not answer.
 */
export async function runAction(command: string, actions: Actions, given: ReadArguments): Promise<number> {
  const { action, words } = pick(command, actions, given)
  action.check?.(given)
  const { origin, readableOnTheWay } = readServiceUrl(given, process.env)
  if (readableOnTheWay) {
    await printNote(
      `keyrail: ${origin} is not https: whoever stands in between reads the ${action.byPerson ? 'password' : 'token'} and every key`,
    )
  }
  if (action.byPerson) {
    const session = await logIn(given, origin)
    try {
      await tell(await action.run({ given, words, ask: createControlApiClient(origin, session.credential) }), given)
    } finally {
      await session.end()
    }
  } else {
    const ask = createControlApiClient(origin, await readToken(given, process.env))
    await tell(await action.run({ given, words, ask }), given)
  }
  return exitCodes.ok
}
