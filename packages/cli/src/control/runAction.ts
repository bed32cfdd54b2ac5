import type { ReadArguments } from '../arguments/command.ts'
import { findNearestName } from '@keyrail/core/internal'
import { exitCodes, wrongUsage } from '../cliError.ts'
import { print, printData, printNote } from '../output/print.ts'
import type { Action, ActionResult, Actions } from './action.ts'
import { createControlApiClient } from './controlApi.ts'
import { logIn, readToken } from './readCredential.ts'
import { readServiceUrl } from './readServiceUrl.ts'

function parseAction(
  command: string,
  actions: Actions,
  given: ReadArguments,
): { action: Action; words: readonly string[] } {
  const [name, ...words] = given.positionals
  const names = Object.keys(actions)
  if (name === undefined) {
    throw wrongUsage(`keyrail ${command} needs an action: ${names.join(', ')}`, `see keyrail ${command} --help`)
  }
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action === undefined) {
    const meant = findNearestName(name, names)
    throw wrongUsage(
      `unknown action keyrail ${command} ${name}`,
      `${meant === undefined ? '' : `did you mean ${meant}? `}The actions are ${names.join(', ')}`,
    )
  }
  const { needs } = action
  if (words.length !== needs.length) {
    throw wrongUsage(
      `keyrail ${command} ${name} takes ${needs.length === 0 ? 'no arguments' : needs.join(' ')}`,
      words.length > needs.length ? 'put quotes around a name with spaces' : `see keyrail ${command} --help`,
    )
  }
  const all = new Set(Object.values(actions).flatMap(({ takes }) => takes))
  const takes = new Set([...action.takes, ...(action.needsPassword ? ['email', 'password-file'] : ['token-file'])])
  const unsupported = [...all, 'email', 'password-file', 'token-file'].find(
    (option) => !takes.has(option) && (given.text(option) !== undefined || given.flag(option)),
  )
  if (unsupported !== undefined) throw wrongUsage(`keyrail ${command} ${name} has no option --${unsupported}`)
  return { action, words }
}

async function printResult({ json, lines, apiKey }: ActionResult, given: ReadArguments): Promise<void> {
  if (given.flag('json')) return printData(JSON.stringify(json))
  if (apiKey === undefined) return print(lines)
  await printNote(lines)
  await printData(apiKey)
}

/**
 * Runs an action through the control API of a service, and prints the result.
 *
 * @param command - The command's name, for errors.
 * @param actions - Its actions.
 * @param given - The command's arguments: the first one is the action.
 * @returns Exit code 0.
 * @throws {CliError} exit code 2 for invalid usage; 1 if the service rejects the request; 3 without a response.
 */
export async function runAction(command: string, actions: Actions, given: ReadArguments): Promise<number> {
  const { action, words } = parseAction(command, actions, given)
  action.check?.(given)
  const account = given.text('account')
  if (account !== undefined && !/^(?:acc|usr)_[0-9a-z]{20}$/.test(account))
    throw wrongUsage('--account needs the id of an account', 'run keyrail accounts list, or copy it from the dashboard')
  const { origin, unencrypted } = readServiceUrl(given, process.env)
  if (unencrypted) {
    await printNote(
      `keyrail: ${origin} is not https: others on the network can read the ${action.needsPassword ? 'password' : 'token'} and every key`,
    )
  }
  if (action.needsPassword) {
    const session = await logIn(given, origin)
    try {
      const api = createControlApiClient(origin, { ...session.credential, account })
      await printResult(await action.run({ given, words, api }), given)
    } finally {
      await session.end()
    }
  } else {
    const api = createControlApiClient(origin, { ...(await readToken(given, process.env)), account })
    await printResult(await action.run({ given, words, api }), given)
  }
  return exitCodes.ok
}
