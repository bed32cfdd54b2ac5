import { vi } from 'vitest'
import { readArguments } from '../src/arguments/readArguments.ts'
import { commands } from '../src/commandTable.ts'
import { formatFailure } from '../src/output/formatFailure.ts'
import type { FormattedFailure } from '../src/output/formatFailure.ts'
import { plain } from '../src/output/style.ts'

const read = ['KEYRAIL_URL', 'KEYRAIL_BASE_URL', 'KEYRAIL_API_KEY', 'KEYRAIL_SERVICE_URL', 'KEYRAIL_TOKEN']

/**
 * Runs, within this process, a command that is to fail: a rejection needs no process of its own.
 *
 * @param words - The command line after `keyrail`.
 * @param environment - What it finds of all that it reads there.
 * @returns What would be told, and the exit code.
 */
export async function failedRun(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<FormattedFailure> {
  const [name, ...rest] = words
  const command = commands.find((one) => one.name === name)
  if (command === undefined) throw new Error(`there is no ${name}`)
  for (const variable of read) vi.stubEnv(variable, environment[variable] ?? '')
  try {
    await command.run(readArguments(command, rest))
  } catch (error) {
    return formatFailure(error, plain)
  } finally {
    vi.unstubAllEnvs()
  }
  throw new Error('it was done')
}
